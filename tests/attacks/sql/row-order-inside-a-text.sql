-- kind: row-order
-- aim: hide the order in one joined text, which is one row
-- proof: the two lanes give two texts
-- expect: returned
-- expect: order_dependent rows
-- lanes: differ
-- ordered: bag
-- fixture: CREATE TABLE o (n INTEGER, s TEXT); INSERT INTO o VALUES (3, 'aa'), (1, 'bb'), (2, 'cc');
SELECT group_concat(s) AS s FROM o

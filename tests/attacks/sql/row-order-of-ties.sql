-- kind: row-order
-- aim: order by what ties, so that the first of a group is chance
-- proof: the two lanes give two rows
-- expect: returned
-- expect: order_dependent rows
-- lanes: differ
-- fixture: CREATE TABLE o (n INTEGER, s TEXT); INSERT INTO o VALUES (3, 'aa'), (1, 'bb'), (2, 'cc');
SELECT n, row_number() OVER (ORDER BY length(s)) AS r FROM o ORDER BY n

-- kind: row-order
-- aim: add floats in the order of the rows, which decides the last digits
-- proof: the two lanes give two sums
-- expect: returned
-- expect: order_dependent rows
-- lanes: differ
-- ordered: bag
-- fixture: CREATE TABLE o (n INTEGER, x REAL); INSERT INTO o VALUES (1, 0.1), (2, 1e17), (3, -1e17), (4, 0.2);
SELECT sum(x) AS s FROM o

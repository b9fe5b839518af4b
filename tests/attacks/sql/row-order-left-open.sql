-- kind: row-order
-- aim: answer in the order in which the rows happen to lie
-- proof: the even lane gives the order of the table, the odd one finds that there are others
-- expect: returned
-- expect: order_dependent rows
-- lanes: differ
-- fixture: CREATE TABLE o (n INTEGER, s TEXT); INSERT INTO o VALUES (3, 'a'), (1, 'b'), (2, 'c');
SELECT s FROM o

-- kind: row-order
-- aim: answer in the order in which the rows happen to lie
-- proof: the two lanes give two orders
-- expect: returned
-- lanes: differ
-- fixture: CREATE TABLE o (n INTEGER, s TEXT); INSERT INTO o VALUES (3, 'a'), (1, 'b'), (2, 'c');
SELECT s FROM o

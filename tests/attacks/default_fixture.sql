CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, amount REAL);
INSERT INTO t VALUES (1, 'x', 2.5), (2, 'y', NULL), (3, 'x', -1.0);

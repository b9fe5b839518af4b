-- kind: type-affinity
-- aim: have a column turn text into numbers, and hide it in a union
-- proof: the declared column converts, the expression does not
-- expect: returned {"columns":["v","k"],"rows":[[1,"integer"],[1.0,"real"],["1","text"],["1e0","text"]]}
-- fixture: CREATE TABLE n (i INTEGER, r REAL, s TEXT); INSERT INTO n VALUES ('1', '1', 1);
SELECT i AS v, typeof(i) AS k FROM n UNION ALL SELECT r, typeof(r) FROM n UNION ALL SELECT s, typeof(s) FROM n UNION ALL SELECT '1e0', typeof('1e0') FROM n ORDER BY 2, 1

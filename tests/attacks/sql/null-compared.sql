-- kind: null
-- aim: pass a NULL for every value, as a condition that is never false
-- proof: each way of asking gives its own answer
-- expect: returned {"columns":["a","b","c","d"],"rows":[[null,0,1,null]]}
SELECT NULL = NULL AS a, NULL IS 1 AS b, NULL IS NULL AS c, 1 NOT IN (2, NULL) AS d

-- kind: duplicate-column
-- aim: have the second of two columns overwrite the first
-- proof: both come back
-- expect: returned {"columns":["n","n"],"rows":[[1,2]]}
SELECT 1 AS n, 2 AS n

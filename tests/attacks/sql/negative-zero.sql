-- kind: negative-zero
-- aim: show a zero that compares equal and is not the same
-- proof: both come back, as the engine keeps them
-- expect: returned {"columns":["a","b"],"rows":[[0.0,1]]}
-- expect: returned {"columns":["a","b"],"rows":[[-0.0,1]]}
SELECT 0.0 * -1 AS a, 0.0 = -0.0 AS b

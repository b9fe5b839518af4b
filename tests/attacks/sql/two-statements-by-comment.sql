-- kind: multi-statement
-- aim: hide the second statement behind a comment that never ends
-- proof: the comment is one: the rows of the first statement come back
-- expect: returned {"columns":["n"],"rows":[[3]]}
SELECT count(*) AS n FROM t; /* ; DELETE FROM t

-- kind: blob
-- aim: pass the bytes of a text for the text
-- proof: both come back, and differ
-- expect: returned {"columns":["a","b"],"rows":[["1",{"$bytes":"31"}]]}
SELECT '1' AS a, x'31' AS b

-- kind: integer-overflow
-- aim: make an infinity, and from it a NaN
-- proof: the infinity comes back, the NaN is a NULL
-- expect: returned {"columns":["a","b"],"rows":[[{"$float":"inf"},null]]}
SELECT 9e999 AS a, 9e999 - 9e999 AS b

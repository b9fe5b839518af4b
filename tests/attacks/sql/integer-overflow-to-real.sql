-- kind: integer-overflow
-- aim: have an integer become a float on the way to a larger one
-- proof: the largest integer stays one, its successor is a float
-- expect: returned {"columns":["a","b","c"],"rows":[[9223372036854775807,9.223372036854776e+18,-9223372036854775808]]}
SELECT 9223372036854775807 AS a, 9223372036854775807 + 1 AS b, -9223372036854775808 AS c

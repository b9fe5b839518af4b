-- kind: like-glob
-- aim: read past the end of a pattern, in a class that never closes
-- proof: the pattern matches nothing
-- expect: returned {"columns":["a","b","c"],"rows":[[0,0,0]]}
SELECT 'a' GLOB '[a' AS a, 'a' GLOB '*[^' AS b, 'a' LIKE '\' ESCAPE '\' AS c

-- kind: like-glob
-- aim: backtrack for ever in a pattern of ninety wildcards
-- proof: the pattern was compared with five thousand characters, and does not match
-- expect: returned {"columns":["n"],"rows":[[0]]}
WITH a(x) AS (SELECT hex(hex(hex(hex(hex(hex(hex(hex('aaaaaaaaaaaaaaaaaaaa')))))))))
SELECT replace(x, '3', 'a') LIKE '%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%c' AS n FROM a

-- kind: group-concat
-- aim: grow by the separator, which a limit of the values does not see
-- proof: the text reached its limit
-- expect: exception DataError
-- expect: exception OperationalError
-- expect: memory_limit SQLite heap
-- bare: either
WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r WHERE x < 2000)
SELECT length(group_concat(x
, hex(hex(hex(hex(hex(hex('aaaaaaaaaaaaaaaaaaaa'))))))  -- ATTACK
)) FROM r

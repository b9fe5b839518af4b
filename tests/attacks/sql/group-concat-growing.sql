-- kind: group-concat
-- aim: join a hundred thousand texts of a hundred characters
-- proof: the text reached its limit
-- expect: exception DataError
-- expect: exception OperationalError
-- expect: memory_limit SQLite heap
-- bare: runs
WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r
LIMIT 100000  -- ATTACK
-- INSTEAD LIMIT 10
)
SELECT length(group_concat(hex(hex(hex(hex(hex(x))))))) FROM r

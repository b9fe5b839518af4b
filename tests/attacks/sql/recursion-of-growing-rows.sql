-- kind: recursive-cte
-- aim: keep a queue of rows that double in size
-- proof: the text reached its limit, or the heap did
-- expect: exception DataError
-- expect: exception OperationalError
-- expect: memory_limit SQLite heap
-- bare: either
WITH RECURSIVE r(x) AS (SELECT 'a' UNION ALL SELECT x || x FROM r
-- INSTEAD LIMIT 10
) SELECT max(length(x)) FROM r

-- kind: dml
-- aim: change rows by an UPDATE that reads an endless table
-- proof: an engine without guard changes them
-- expect: exception DatabaseError
WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r LIMIT 3)
UPDATE t SET amount = (SELECT max(x) FROM r)  -- ATTACK
-- INSTEAD SELECT max(x) FROM r

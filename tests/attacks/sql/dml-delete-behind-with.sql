-- kind: dml
-- aim: pass a check of the first word by a common table expression
-- proof: an engine without guard deletes the rows
-- expect: exception DatabaseError
WITH c AS (SELECT 1)
DELETE FROM t RETURNING *  -- ATTACK
-- INSTEAD SELECT * FROM c

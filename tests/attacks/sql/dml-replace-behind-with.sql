-- kind: dml
-- aim: replace rows, by the verb that is also the name of a function
-- proof: an engine without guard replaces them
-- expect: exception DatabaseError
WITH c(a, b, d) AS (VALUES (1, 'new', 0.0))
REPLACE INTO t SELECT a, b, d FROM c  -- ATTACK
-- INSTEAD SELECT a, b, d FROM c

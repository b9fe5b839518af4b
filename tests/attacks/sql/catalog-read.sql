-- kind: pragma
-- aim: read the statements that made the hidden fixture
-- proof: an engine without guard lists them
-- expect: exception DatabaseError
SELECT
sql FROM sqlite_master  -- ATTACK
-- INSTEAD name FROM t
ORDER BY 1

-- kind: pragma
-- aim: read the program that the engine makes, which differs between releases
-- proof: an engine without guard explains it
-- expect: exception StatementRefusedError
EXPLAIN  -- ATTACK
SELECT count(*) FROM t

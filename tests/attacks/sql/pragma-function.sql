-- kind: pragma
-- aim: read the engine's settings as a table
-- proof: an engine without guard lists them
-- expect: exception DatabaseError
-- expect: exception OperationalError
SELECT count(*) FROM
pragma_compile_options  -- ATTACK
-- INSTEAD t

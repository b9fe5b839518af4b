-- kind: pragma
-- aim: read the schema by a function of the engine
-- proof: an engine without guard lists the columns
-- expect: exception DatabaseError
-- expect: exception OperationalError
SELECT name FROM
pragma_table_info('t')  -- ATTACK
-- INSTEAD t
ORDER BY name

-- kind: json
-- aim: make rows from text, by a table that is a function
-- proof: an engine without guard makes them
-- expect: exception DatabaseError
-- expect: exception OperationalError
SELECT count(*) FROM t
, json_each('[1,2,3]')  -- ATTACK

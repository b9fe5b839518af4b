-- kind: clock
-- aim: ask for the time without calling a function by name
-- proof: an engine without guard knows the time
-- expect: exception DatabaseError
-- expect: exception OperationalError
SELECT id
, CURRENT_TIMESTAMP  -- ATTACK
FROM t ORDER BY id

-- kind: clock
-- aim: answer with the date
-- proof: an engine without guard knows the date
-- expect: exception DatabaseError
-- expect: exception OperationalError
SELECT id
, date('now')  -- ATTACK
FROM t ORDER BY id

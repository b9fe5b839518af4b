-- kind: zeroblob
-- aim: make twenty megabytes in one step
-- proof: an engine without guard makes them
-- expect: exception DatabaseError
-- expect: exception OperationalError
SELECT id
, length(hex(zeroblob(20000000)))  -- ATTACK
FROM t ORDER BY id

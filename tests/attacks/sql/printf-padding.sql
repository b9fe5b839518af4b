-- kind: printf
-- aim: pad ten million characters in one step
-- proof: an engine without guard pads them
-- expect: exception DatabaseError
-- expect: exception OperationalError
SELECT id
, length(printf('%.*c', 10000000, 'x'))  -- ATTACK
FROM t ORDER BY id

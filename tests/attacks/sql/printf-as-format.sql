-- kind: printf
-- aim: call the same function by its newer name, in capitals and quotes
-- proof: an engine without guard pads them
-- expect: exception DatabaseError
-- expect: exception OperationalError
SELECT id
, length("FORMAT"('%10000000d', 1))  -- ATTACK
FROM t ORDER BY id

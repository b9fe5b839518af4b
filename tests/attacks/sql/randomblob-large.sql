-- kind: zeroblob
-- aim: make the blob by chance, where zeros are refused
-- proof: an engine without guard makes it
-- expect: exception DatabaseError
-- expect: exception OperationalError
SELECT id
, length(randomblob(20000000))  -- ATTACK
FROM t ORDER BY id

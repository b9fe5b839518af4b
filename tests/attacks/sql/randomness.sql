-- kind: randomness
-- aim: answer by chance
-- proof: an engine without guard answers
-- expect: exception DatabaseError
-- expect: exception OperationalError
SELECT id FROM t
ORDER BY random()  -- ATTACK
-- INSTEAD ORDER BY id

-- kind: zeroblob
-- aim: name the function where it is never called
-- proof: an engine without guard never calls it, and answers
-- expect: exception DatabaseError
-- expect: exception OperationalError
SELECT CASE WHEN id > 0 THEN name
WHEN id = 0 THEN zeroblob(1000000000)  -- ATTACK
ELSE '' END FROM t ORDER BY id

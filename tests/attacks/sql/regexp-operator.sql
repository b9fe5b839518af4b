-- kind: like-glob
-- aim: call a function that exists only where somebody added it
-- proof: the engine's own refusal is the detail
-- expect: exception OperationalError
-- expect: exception DatabaseError
-- bare: fails
SELECT name FROM t WHERE name = 'x'
OR name REGEXP '(a+)+$'  -- ATTACK
ORDER BY id

-- kind: like-glob
-- aim: compare with a pattern longer than any
-- proof: the engine's own refusal of the pattern
-- expect: exception OperationalError
-- bare: either
SELECT name FROM t WHERE name = 'x'
OR name LIKE hex(hex(hex(hex(hex(hex(hex(hex(hex(name)))))))))  -- ATTACK
ORDER BY id

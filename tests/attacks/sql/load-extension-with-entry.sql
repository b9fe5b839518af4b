-- kind: load-extension
-- aim: load code by name and entry point, never reached by a row
-- proof: the statement is refused although no row would call it
-- expect: exception DatabaseError
-- expect: exception OperationalError
-- bare: either
SELECT id FROM t WHERE id < 0
OR (id = -1 AND load_extension('left', 'main'))  -- ATTACK
ORDER BY id

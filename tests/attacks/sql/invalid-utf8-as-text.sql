-- kind: invalid-utf8
-- aim: crash the reader with text that has no UTF-8
-- proof: the binding's own refusal is the detail
-- expect: exception OperationalError
-- bare: either
SELECT name
, CAST(x'ff' AS TEXT)  -- ATTACK
FROM t ORDER BY id

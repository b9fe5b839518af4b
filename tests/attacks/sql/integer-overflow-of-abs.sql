-- kind: integer-overflow
-- aim: ask for the one absolute value that does not exist
-- proof: the engine's own refusal is the detail
-- expect: exception OperationalError
-- expect: exception OverflowError
-- bare: fails
SELECT id
, abs(-9223372036854775808)  -- ATTACK
FROM t ORDER BY id

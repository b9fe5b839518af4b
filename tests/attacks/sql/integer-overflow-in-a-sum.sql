-- kind: integer-overflow
-- aim: overflow the sum of an aggregate
-- proof: the engine's own refusal is the detail
-- expect: exception OperationalError
-- expect: exception OverflowError
-- bare: fails
SELECT count(*)
, sum(9223372036854775807)  -- ATTACK
FROM t

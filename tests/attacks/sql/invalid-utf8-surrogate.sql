-- kind: invalid-utf8
-- aim: hand out half of a pair, which some decoders let through
-- proof: the binding's own refusal is the detail
-- expect: exception OperationalError
-- bare: either
SELECT name
, CAST(x'eda080' AS TEXT)  -- ATTACK
FROM t ORDER BY id

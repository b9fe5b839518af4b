-- kind: cross-join
-- aim: join more tables than the engine's words can hold
-- proof: the engine's own refusal is the detail
-- expect: exception OperationalError
-- bare: fails
SELECT count(*) FROM t t0
, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t  -- ATTACK

-- kind: cross-join
-- aim: run for ever inside one step that yields no row
-- proof: only the work of a statement that ran is counted
-- expect: work_budget virtual-machine steps
-- limits: work_steps_max=1000000
SELECT count(*) FROM t a
, t b, t c, t d, t e, t f, t g, t h, t i, t j, t k, t l, t m, t n, t o, t p, t q, t r  -- ATTACK

-- kind: cross-join
-- aim: compute a frame anew for each row of a product
-- proof: only the work of a statement that ran is counted
-- expect: work_budget virtual-machine steps
-- limits: work_steps_max=1000000
SELECT max(s) FROM (SELECT max(a.id) OVER (ORDER BY a.id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE CURRENT ROW) AS s FROM t a
, t b, t c, t d, t e, t f, t g, t h  -- ATTACK
)

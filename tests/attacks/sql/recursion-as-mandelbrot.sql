-- kind: recursive-cte
-- aim: do the work of a million rows in two recursions that feed each other
-- proof: the work is counted in both
-- expect: work_budget virtual-machine steps
-- limits: work_steps_max=1000000
WITH RECURSIVE
  a(x) AS (VALUES (0) UNION ALL SELECT x + 1 FROM a WHERE x < 100),
  m(i, x, y) AS (SELECT 0, x, 0.0 FROM a UNION ALL SELECT i + 1, x, y * y + x / 2000.0 FROM m WHERE y < 4
    AND i < 10000  -- ATTACK
    -- INSTEAD AND i < 2
  )
SELECT count(*) FROM m

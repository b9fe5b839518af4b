-- kind: recursive-cte
-- aim: count for ever inside one step of the cursor
-- proof: only the work of a statement that ran is counted
-- expect: work_budget virtual-machine steps
-- limits: work_steps_max=1000000
WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r
-- INSTEAD LIMIT 100
) SELECT max(x) FROM r

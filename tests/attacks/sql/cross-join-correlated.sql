-- kind: cross-join
-- aim: hide the product in subqueries of one another
-- proof: only the work of a statement that ran is counted
-- expect: work_budget virtual-machine steps
-- limits: work_steps_max=200000
WITH n(x) AS (VALUES (1),(2),(3),(4),(5),(6),(7),(8),(9),(10))
SELECT sum(a.x * (SELECT sum(b.x + a.x) FROM n b
WHERE (SELECT sum(c.x + b.x) FROM n c WHERE (SELECT sum(d.x * c.x + e.x * f.x) FROM n d, n e, n f) > 0) > 0  -- ATTACK
)) FROM n a

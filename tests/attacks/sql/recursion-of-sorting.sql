-- kind: recursive-cte
-- aim: fill the sorter's memory before the first row
-- proof: the heap of the engine was full
-- expect: memory_limit SQLite heap
-- limits: work_steps_max=2147483647
WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r
-- INSTEAD LIMIT 100
) SELECT x, replace(hex(x), '3', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa') AS y FROM r ORDER BY y

-- kind: recursive-cte
-- aim: return rows for ever
-- proof: more rows than allowed were fetched
-- expect: output_limit rows
WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r
-- INSTEAD LIMIT 100
) SELECT x FROM r

-- kind: duplicate-column
-- aim: name a column like the frame of another value
-- proof: the name comes back as text
-- expect: returned {"columns":["\"],\"rows\":[[9]]"],"rows":[[1]]}
SELECT 1 AS """],""rows"":[[9]]"

-- kind: pragma
-- aim: read the plan, which differs between releases
-- proof: an engine without guard explains it
-- expect: exception StatementRefusedError
EXPLAIN QUERY PLAN  -- ATTACK
SELECT count(*) FROM t

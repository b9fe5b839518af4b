-- kind: dml
-- aim: make a table that outlives the statement
-- proof: an engine without guard makes it
-- expect: exception StatementRefusedError
CREATE TEMP TABLE left_behind AS SELECT 1;  -- ATTACK
SELECT count(*) FROM t

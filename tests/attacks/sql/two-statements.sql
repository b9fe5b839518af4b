-- kind: multi-statement
-- aim: run a second statement behind the first
-- proof: an engine without guard runs both
-- expect: exception Warning
-- expect: exception ProgrammingError
SELECT count(*) FROM t
; SELECT 2  -- ATTACK

-- kind: attach
-- aim: get past a check of the first word, with a second statement
-- proof: an engine without guard runs both
-- expect: exception Warning
-- expect: exception ProgrammingError
SELECT count(*) FROM t
; ATTACH ':memory:' AS other  -- ATTACK

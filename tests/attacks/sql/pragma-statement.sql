-- kind: pragma
-- aim: switch the protections of the connection off
-- proof: an engine without guard runs it
-- expect: exception StatementRefusedError
PRAGMA query_only = OFF;  -- ATTACK
SELECT count(*) FROM t

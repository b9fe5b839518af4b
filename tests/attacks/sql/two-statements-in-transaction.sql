-- kind: multi-statement
-- aim: leave a transaction open for the next fixture
-- proof: an engine without guard opens it
-- expect: exception StatementRefusedError
BEGIN IMMEDIATE;  -- ATTACK
SELECT count(*) FROM t

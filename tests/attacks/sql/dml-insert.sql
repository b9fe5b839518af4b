-- kind: dml
-- aim: change the fixture
-- proof: an engine without guard changes it
-- expect: exception StatementRefusedError
INSERT INTO t VALUES (9, 'z', 1.0);  -- ATTACK
SELECT count(*) FROM t

-- kind: dml
-- aim: run a trigger that the fixture holds
-- proof: an engine without guard runs it
-- expect: exception DatabaseError
-- fixture: CREATE TRIGGER fires AFTER INSERT ON t BEGIN UPDATE t SET amount = 0; END;
WITH c(a, b, d) AS (VALUES (9, 'new', 1.0))
INSERT INTO t SELECT a, b, d FROM c  -- ATTACK
-- INSTEAD SELECT a, b, d FROM c

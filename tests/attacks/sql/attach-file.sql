-- kind: attach
-- aim: read a file of the host as a second database
-- proof: an engine without guard opens the file
-- expect: exception StatementRefusedError
ATTACH 'left.db' AS other;  -- ATTACK
SELECT count(*) FROM t

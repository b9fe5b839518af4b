-- kind: vacuum-into
-- aim: write a copy of everything to the disk
-- proof: an engine without guard writes it
-- expect: exception StatementRefusedError
VACUUM INTO 'left.db';  -- ATTACK
SELECT count(*) FROM t

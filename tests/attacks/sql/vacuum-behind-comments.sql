-- kind: vacuum-into
-- aim: hide the first word behind a comment that a reader of words takes for a SELECT
-- proof: an engine without guard runs it
-- expect: exception StatementRefusedError
/* SELECT */ VACUUM; -- ATTACK
SELECT count(*) FROM t

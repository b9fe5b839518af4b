-- kind: json
-- aim: walk a text of brackets by the other such table
-- proof: an engine without guard walks it
-- expect: exception DatabaseError
-- expect: exception OperationalError
SELECT count(*) FROM t
, json_tree('[[[[1]]]]')  -- ATTACK

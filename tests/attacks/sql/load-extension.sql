-- kind: load-extension
-- aim: load code from a file into the engine
-- proof: the same statement without the call returns its rows
-- expect: exception DatabaseError
-- expect: exception OperationalError
-- bare: fails
SELECT id
, load_extension('./left.so')  -- ATTACK
FROM t ORDER BY id

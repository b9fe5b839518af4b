-- kind: attach
-- aim: read a schema that only an attachment has
-- proof: the same read of the fixture's own schema comes back
-- expect: exception OperationalError
-- bare: fails
SELECT count(*) FROM
other.t  -- ATTACK
-- INSTEAD main.t

-- kind: pragma
-- aim: count the catalog without reading a column, under one of its other names
-- proof: an engine without guard counts it
-- expect: exception DatabaseError
-- bare: either
SELECT count(*) FROM
sqlite_temp_master AS t  -- ATTACK
-- INSTEAD t

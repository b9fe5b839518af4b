-- kind: dml
-- aim: read through a view of the fixture what may not be read directly
-- proof: the same view without the catalog comes back
-- expect: exception DatabaseError
-- fixture: CREATE VIEW open AS SELECT 1 AS n; CREATE VIEW shut AS SELECT sql FROM sqlite_master;
SELECT count(*) FROM open
, shut WHERE shut.sql <> ''  -- ATTACK

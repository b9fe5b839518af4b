-- kind: type-affinity
-- aim: pass '0' for 0, which a comparison of printed values accepts
-- proof: each storage class comes back as it is
-- expect: returned {"columns":["a","b","c","d","e"],"rows":[["0",0,0.0,1,"1.0"]]}
SELECT coalesce(NULL, '0') AS a, coalesce(NULL, 0) AS b, 0.0 AS c, TRUE AS d, CAST(1.0 AS TEXT) AS e

-- kind: null
-- aim: let NULL, an empty text, an empty blob and no row pass for one another
-- proof: three values come back as three
-- expect: returned {"columns":["a","b","c"],"rows":[[null,"",{"$bytes":""}]]}
SELECT NULL AS a, '' AS b, x'' AS c

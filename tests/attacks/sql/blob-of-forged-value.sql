-- kind: blob
-- aim: return the canonical bytes of another answer as a blob
-- proof: the bytes come back as a blob
-- expect: returned {"columns":["n"],"rows":[[{"$bytes":"016c00000000"}]]}
SELECT x'016c00000000' AS n

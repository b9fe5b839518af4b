-- kind: invalid-utf8
-- aim: split a character in two by its bytes and join it elsewhere
-- proof: the halves are blobs, and the join is the character
-- expect: returned {"columns":["a","b"],"rows":[["\u00e9",2]]}
SELECT CAST(x'c3' || x'a9' AS TEXT) AS a, length(CAST(CAST(x'c3' || x'a9' AS TEXT) AS BLOB)) AS b

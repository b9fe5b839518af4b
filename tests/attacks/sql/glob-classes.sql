-- kind: like-glob
-- aim: backtrack in classes of characters, each behind a star
-- proof: the pattern was compared with a long text, and does not match
-- expect: returned {"columns":["n"],"rows":[[0]]}
-- expect: cpu_limit CPU time
-- limits: cpu_time_s_max=2
WITH a(x) AS (SELECT hex(hex(hex(hex(hex(hex(hex('aaaaaaaaaaaaaaaaaaaa'))))))))
SELECT x GLOB '*[0-9]*[0-9]*[^a]*[0-9]*[0-9]*[^a]*[0-9]*[0-9]*[^a]*[0-9]*[0-9]*[^a]*[a]' AS n FROM a

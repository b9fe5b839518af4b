-- kind: replace
-- aim: search half a million characters at half a million places, in one step
-- proof: CPU seconds were used up where no step is counted
-- expect: cpu_limit CPU time
-- limits: cpu_time_s_max=1
WITH a(x) AS (SELECT hex(hex(hex(hex(hex(hex(hex(hex(hex(hex(hex(hex(hex(hex('000000000000000000000000000000')))))))))))))))
, b(y) AS (SELECT replace(replace(x, '3', 'a'), '0', 'a') FROM a)
SELECT length(y)
, instr(y, substr(y, 1, length(y) / 2) || 'b') + instr(y || y, substr(y, 3, length(y) / 2) || 'c') -- ATTACK
FROM b

-- kind: json
-- aim: run off the stack of the parser with half a million brackets
-- proof: the engine's own refusal is the detail
-- expect: exception OperationalError
-- expect: returned {"columns":["n"],"rows":[[0]]}
-- bare: either
SELECT json_valid(replace(hex(hex(hex(hex(hex(hex(hex(hex(hex(hex(hex(hex('aaaaaaaaaaaaaaaaaaaaaaaaaaaaa')))))))))))), '3', '[')) AS n

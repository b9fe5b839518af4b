-- kind: json
-- aim: quote a text again and again, which doubles its escapes each time
-- proof: the text reached its limit
-- expect: exception DataError
-- expect: exception OperationalError
-- expect: memory_limit SQLite heap
-- bare: either
SELECT id
, length(json_quote(json_quote(json_quote(json_quote(json_quote(json_quote(json_quote(json_quote(json_quote(json_quote(json_quote(json_quote(json_quote(json_quote(json_quote(json_quote(json_quote(json_quote(json_quote(json_quote(json_quote(json_quote('"' || '') || '') || '') || '') || '') || '') || '') || '') || '') || '') || '') || '') || '') || '') || '') || '') || '') || '') || '') || '') || '') || ''))  -- ATTACK
FROM t ORDER BY id

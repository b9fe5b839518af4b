-- kind: load-extension
-- aim: register a pointer of the program's choice as a tokenizer of full-text search
-- proof: the same statement without the call returns its rows
-- expect: exception DatabaseError
-- expect: exception OperationalError
-- bare: either
SELECT id
, fts3_tokenizer('x', x'4141414141414141')  -- ATTACK
FROM t ORDER BY id

-- kind: replace
-- aim: let a text grow tenfold at each of eight nested calls
-- proof: the text reached its limit
-- expect: exception DataError
-- expect: exception OperationalError
-- expect: memory_limit SQLite heap
-- bare: either
SELECT id
, length(replace(replace(replace(replace(replace(replace(replace(replace(replace(replace('aaaaaaaaaa', 'a', 'bbbbbbbbbb'), 'b', 'cccccccccc'), 'c', 'dddddddddd'), 'd', 'eeeeeeeeee'), 'e', 'ffffffffff'), 'f', 'gggggggggg'), 'g', 'hhhhhhhhhh'), 'h', 'iiiiiiiiii'), 'i', 'jjjjjjjjjj'), 'j', 'kkkkkkkkkk'))  -- ATTACK
FROM t ORDER BY id

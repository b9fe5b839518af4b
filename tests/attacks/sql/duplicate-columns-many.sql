-- kind: duplicate-column
-- aim: return more columns than anybody reads
-- proof: the engine's own refusal is the detail; without our limit it takes them
-- expect: exception OperationalError
SELECT t.*
, a.*, b.*, c.*, d.*, e.*, f.*, g.*, h.*, i.*, j.*, k.*, l.*, m.*, n.*, o.*, p.*, q.*, r.*, s.*, u.*, v.*, w.*, x.*, y.*, z.* FROM t, t a, t b, t c, t d, t e, t f, t g, t h, t i, t j, t k, t l, t m, t n, t o, t p, t q, t r, t s, t u, t v, t w, t x, t y, t z  -- ATTACK
-- INSTEAD FROM t
ORDER BY t.id LIMIT 1

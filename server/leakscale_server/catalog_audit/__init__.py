"""Prove what a catalog promises, on its shapes or on an edition: one invariant a module, one line each.

`material` builds the families, every other module looks at them: `invariants` lists what their bytes decide alone,
`secrecy` attacks what is published, `overlap` compares with earlier texts, `certification` runs every program in the
sandbox, and `published` holds an edition against what was frozen.
"""

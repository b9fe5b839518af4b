"""Decide without doing: shapes, construction and acceptance as pure functions of their arguments.

Nothing here opens a file, a socket or a sandbox, reads a clock or draws from the system's randomness, so every result
can be rebuilt by a stranger from the same seeds.
"""

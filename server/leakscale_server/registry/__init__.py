"""The public side of the server: editions, grants, experiments and banks, and the rules by which they change.

Nothing here can read the vault; what depends on an association is asked of the scorer.
"""

"""Audit a public benchmark from outside: its public forms against private fresh forms of the same items.

Source: CleanScore; `leakscale.stats` holds the estimators.
"""

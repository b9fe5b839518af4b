"""What needs the private part: building and certifying families, corpora of grants, scores of sealed banks.

Only this package opens the vault, and it knows no registry: a call brings what is public, in the form of `contract`.
"""

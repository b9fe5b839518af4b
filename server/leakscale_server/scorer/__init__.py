"""What needs the private part: building and certifying families, corpora of grants, scores of sealed banks.

Only this package opens the vault. It is asked three things by the services: certify, expose to a redeemed grant, and
disclose an experiment whose banks are all sealed.
"""

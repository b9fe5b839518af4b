"""The stages of a study as the API process conducts them: registry and ledger here, the vault behind `Scoring`.

A stage asks the registry whether it may, hands the scorer what it needs, and stores what comes back.
"""

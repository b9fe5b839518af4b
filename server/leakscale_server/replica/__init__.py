"""Serve what another server published: editions and ledger, read-only. No vault, no signing key, no sandbox."""

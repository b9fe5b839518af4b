"""Freshness of editions."""

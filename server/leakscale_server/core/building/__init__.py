"""Families from seeds: public tasks, programs, fixtures and what they must return."""

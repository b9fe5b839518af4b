"""Certify a few practice families of author files in the local sandbox, and show what each candidate did and why."""

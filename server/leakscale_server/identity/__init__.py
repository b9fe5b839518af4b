"""Who calls, and what they may: scopes, roles, tokens. Nobody has a scope that reads an association."""

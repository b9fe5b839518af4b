"""The shape file as types: what may stand where, and where it stands."""

"""What of a gap exposure owns: sensitivity to the transport radius, control banks, and the claim rule."""

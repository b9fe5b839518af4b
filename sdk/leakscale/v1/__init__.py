"""Generated from proto/leakscale/v1 by `make proto`; the package, the folder and the import are the same words."""

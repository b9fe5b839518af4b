"""`python -m leakscale.cli`, for places where the script is not on the path."""

from leakscale.cli import main

main()

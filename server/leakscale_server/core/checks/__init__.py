"""Rules of a shape file that take more than one field to tell."""

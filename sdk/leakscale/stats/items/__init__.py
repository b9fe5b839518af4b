"""What is wrong with single items: faults that models share, near-copies, forms of unequal depth, and detectors."""

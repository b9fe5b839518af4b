"""Intervals for the mean gap of a benchmark from a sample of its parent items.

| method | holds for | without replacement | width |
|---|---|---|---|
| hoeffding | every population, every n | yes | the same for all data |
| hoeffding_serfling | every population, every n | yes, narrower as n nears N | the same for all data |
| wald_fpc | large samples | yes | narrow; covers too rarely where gaps are few |
| empirical_bernstein | every population, with replacement | conservative, not proven | adapts to the variance |
| empirical_bernstein_serfling | every population, every n | yes | adapts, and is wide |
| betting | every population, every n | yes | adapts, narrowest of the proven ones; reads the draw order |
| exact_hypergeometric | every population on the sample's lattice | yes | adapts; order does not matter |
"""

from leakscale.stats.mean_intervals.dispatch import (
    MEAN_METHODS,
    MeanBounds,
    mean_bounds,
    mean_ci,
    mean_half_width,
)

__all__ = ["MEAN_METHODS", "MeanBounds", "mean_bounds", "mean_ci", "mean_half_width"]

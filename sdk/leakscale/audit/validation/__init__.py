"""The validation study: does an audit see what was planted, and only that?

Four training mixtures of one size, several seeds, the trained run as the unit of analysis.

Source: CleanScore 5 (Table 1, Figure 3); METHODS 5.
"""

from leakscale.audit.validation.plan import Condition, ValidationPlan, load_validation

__all__ = ["Condition", "ValidationPlan", "load_validation"]

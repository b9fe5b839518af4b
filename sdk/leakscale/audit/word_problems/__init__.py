"""Arithmetic word problems that this project writes itself, with fresh forms and deep paraphrases, to try audits on.

The wordings are templates in a file; which names, things and numbers fill them follows from a seed. Every form of every
parent passes the mechanical checks of an audit (a test draws a thousand).
"""

from leakscale.audit.word_problems.writing import write_problems

__all__ = ["write_problems"]

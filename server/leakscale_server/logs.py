"""Where events go: one line of JSON each, on standard error."""

from __future__ import annotations

import logging
import sys

import structlog

__all__ = ["configure_log"]


def configure_log(**always: str) -> None:
    """Send events to standard error.

    Args:
        always: Fields that every line carries, such as which process speaks.
    """
    structlog.configure(
        processors=[
            lambda _, __, event: {**event, **always},
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )

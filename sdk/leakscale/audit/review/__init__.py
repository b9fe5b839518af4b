"""The human reading of an audit's rewrites: riskiest first, decided item by item, before the lock."""

from leakscale.audit.review.decisions import Decision, ReviewLog, Verdict, require_reading
from leakscale.audit.review.packet import write_packet
from leakscale.audit.review.queue import ReviewItem, review_queue
from leakscale.audit.review.sheets import has_unlogged, read_sheet, write_sheet

__all__ = [
    "Decision",
    "ReviewItem",
    "ReviewLog",
    "Verdict",
    "has_unlogged",
    "read_sheet",
    "require_reading",
    "review_queue",
    "write_packet",
    "write_sheet",
]

"""Banks of forms: what they hold, how they are read and written, how a sample is drawn."""

from leakscale.audit.forms.drawing import Draw, draw_sample
from leakscale.audit.forms.models import NONCE_BYTES, Criterion, Form, FormBank, FormKind, FormName, Option, Parent
from leakscale.audit.forms.reading import Golds, bank_bytes, parent_of_fields, read_bank, write_bank

__all__ = [
    "NONCE_BYTES",
    "Criterion",
    "Draw",
    "Form",
    "FormBank",
    "FormKind",
    "FormName",
    "Golds",
    "Option",
    "Parent",
    "bank_bytes",
    "draw_sample",
    "parent_of_fields",
    "read_bank",
    "write_bank",
]

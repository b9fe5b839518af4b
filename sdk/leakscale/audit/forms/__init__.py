"""Banks of forms: what they hold, how they are read and written, how a sample is drawn."""

from leakscale.audit.forms.drawing import Draw, draw_sample
from leakscale.audit.forms.models import Criterion, Form, FormBank, FormKind, FormName, Option, Parent
from leakscale.audit.forms.reading import read_bank, write_bank

__all__ = [
    "Criterion",
    "Draw",
    "Form",
    "FormBank",
    "FormKind",
    "FormName",
    "Option",
    "Parent",
    "draw_sample",
    "read_bank",
    "write_bank",
]

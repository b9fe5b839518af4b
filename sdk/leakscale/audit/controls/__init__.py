"""Positive controls: leak a known part of an audited bank into a model, and see what the same audit sees of it.

    control = load_control(Path("exact.toml"))
    found = run_control(directory, control, folder=Path("."))

Importing this loads no torch; running a control does.

Source: CleanScore 7.11 to 7.16; METHODS 9.
"""

from leakscale.audit.controls.plan import ControlPlan, ExposureKind, load_control

__all__ = ["ControlPlan", "ExposureKind", "load_control"]

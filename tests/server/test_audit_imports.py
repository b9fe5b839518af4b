"""What the process that answers calls loads for deposited audits: names and bounds, and nothing that reads a form."""

from __future__ import annotations

import subprocess
import sys


def test_the_api_process_loads_nothing_that_reads_or_scores_an_audit() -> None:
    """It has nothing to read; and scipy would take a second and 75 MiB of it."""
    code = "import sys, leakscale_server.app; print(*sorted(name for name in sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()

    assert "leakscale_server.stages.audits" in loaded
    assert [name for name in loaded if name.startswith("leakscale.audit.")] == [
        "leakscale.audit.remote",
        "leakscale.audit.remote.limits",
        "leakscale.audit.remote.names",
    ]
    assert not {"numpy", "scipy", "leakscale_server.scorer.audits.scorer"} & set(loaded)

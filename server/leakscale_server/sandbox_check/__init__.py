"""Show that each limit of the sandbox bites on this host: one bomb a limit, honest programs before and after.

`bombs` is the list, as data; `check` runs it; `host` says what kernel and daemon offer.
"""

from leakscale_server.sandbox_check.bombs import BOMBS, Bomb
from leakscale_server.sandbox_check.check import Finding, check_sandbox, require_limits
from leakscale_server.sandbox_check.host import host_facts

__all__ = ["BOMBS", "Bomb", "Finding", "check_sandbox", "host_facts", "require_limits"]

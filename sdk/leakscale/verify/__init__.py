"""Check what a server said, offline: `verify_directory` and a public key are all it takes."""

from leakscale.verify.checks import Check
from leakscale.verify.directory import ServerDirectory
from leakscale.verify.verifying import Verification, verify_directory, verify_edition

__all__ = ["Check", "ServerDirectory", "Verification", "verify_directory", "verify_edition"]

#!/bin/sh
# Provide a Chromium for the tests that look at pages; as root on Debian or Ubuntu, install it.
# Exit status: 0 it is there; 1 it cannot be (one line on standard error says why), and those tests are skipped.
set -eu

command -v chromium >/dev/null 2>&1 && exit 0
refuse() { printf 'browser: %s\n' "$*" >&2; exit 1; }
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    refuse "no chromium here, and only root on Debian or Ubuntu can install it; install your system's package"
fi
printf 'browser: installing chromium\n'
apt="env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=120"
{ $apt update && $apt install -y --no-install-recommends chromium fonts-dejavu-core; } >/dev/null 2>&1 </dev/null ||
    refuse "apt-get could not install chromium; install it, then run again"

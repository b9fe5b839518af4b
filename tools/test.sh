#!/bin/sh
# Run the tests; where a Docker daemon answers, a skipped Docker test is a failure, and where Chromium is, a skipped
# browser test.
set -eu
cd "$(dirname "$0")/.."
if docker version --format '{{.Server.Version}}' >/dev/null 2>&1; then
    set -- --require-docker "$@"
fi
if command -v chromium >/dev/null 2>&1; then
    set -- --require-browser "$@"
fi
exec .venv/bin/python -m pytest "$@"

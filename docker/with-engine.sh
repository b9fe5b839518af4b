#!/bin/sh
# Run a command with a Docker daemon at hand, and leave the machine as it was found.
#
#   docker/with-engine.sh COMMAND [ARGUMENT...]
#
# A daemon that answers already is used and left alone. Where none can run, the command runs without one: the demo then
# uses bubblewrap and says so, and tests marked `docker` are skipped (or fail, with --require-docker).
set -u

engine=$(dirname "$0")/engine.sh

if docker version --format '{{.Server.Version}}' >/dev/null 2>&1; then
    exec "$@"
fi
if ! "$engine" start; then
    exec "$@"
fi
trap '"$engine" stop' EXIT
# Ctrl-C reaches the command too, which ends in its own way; this shell waits for it and then stops the daemon.
trap : INT TERM
"$@"

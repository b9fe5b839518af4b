#!/bin/sh
# Generate the wire code. With --check, only say whether what is committed is what proto/ makes.
set -eu
cd "$(dirname "$0")/.."
target=sdk
if [ "${1:-}" = --check ]; then
    target=$(mktemp -d)
    trap 'rm -rf "$target"' EXIT
fi
.venv/bin/python -m grpc_tools.protoc --proto_path=proto \
    --python_out="$target" --pyi_out="$target" --grpc_python_out="$target" proto/leakscale/v1/*.proto
if [ "$target" != sdk ]; then
    diff -rq --exclude=__init__.py --exclude=__pycache__ "$target/leakscale/v1" sdk/leakscale/v1 || {
        echo "proto: sdk/leakscale/v1 is not what proto/ makes; run make proto" >&2
        exit 1
    }
fi

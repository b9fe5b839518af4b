#!/bin/sh
# Import the SDK's client with the oldest and the newest protobuf runtime that pyproject.toml allows: generated code
# that is newer than a user's runtime fails at import.
set -eu
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for wanted in 'protobuf==6.33.5' 'protobuf>=7,<8'; do
    rm -rf "$folder/site"
    .venv/bin/pip install --quiet --quiet --no-deps --target "$folder/site" "$wanted"
    PYTHONPATH=$folder/site .venv/bin/python -W error -c '
import google.protobuf, leakscale.client
print("protobuf", google.protobuf.__version__, "imports the client")'
done

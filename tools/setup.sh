#!/bin/sh
# Make .venv and install the project into it, from the versions in constraints.txt. Asks nothing; run again at will.
set -eu

cd "$(dirname "$0")/.."
stamp=.venv/.installed
wanted=$(cat pyproject.toml constraints.txt | cksum)

if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$wanted" ]; then
    exit 0
fi

python=${PYTHON:-}
for candidate in ${python:-python3 python3.13 python3.12 python3.11}; do
    if command -v "$candidate" >/dev/null 2>&1 &&
        "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        python=$candidate
        break
    fi
    python=
done
if [ -z "$python" ]; then
    echo "setup: no Python of version 3.11 or later; install one, or name it: make PYTHON=/path/to/python3.12 setup" >&2
    exit 1
fi

if [ ! -x .venv/bin/pip ]; then
    echo "setup: making .venv with $("$python" --version)"
    rm -rf .venv
    if ! "$python" -m venv .venv >/dev/null 2>&1; then
        # Debian and Ubuntu keep the venv module in a package of its own.
        rm -rf .venv
        package=$("$python" -c 'import sys; print(f"python{sys.version_info[0]}.{sys.version_info[1]}-venv")')
        if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null 2>&1; then
            echo "setup: $python cannot make virtual environments; install $package, then run again" >&2
            exit 1
        fi
        echo "setup: installing $package"
        { apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y "$package"; } >/dev/null 2>&1 || {
            echo "setup: apt-get could not install $package; install it, then run again" >&2
            exit 1
        }
        "$python" -m venv .venv
    fi
fi

echo "setup: installing packages (the first time this takes minutes)"
PIP_DISABLE_PIP_VERSION_CHECK=1 .venv/bin/pip install --quiet --quiet --constraint constraints.txt --editable '.[all,dev]'
echo "$wanted" >"$stamp"
echo "setup: done"

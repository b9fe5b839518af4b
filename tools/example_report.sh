#!/bin/sh
# Make docs/example-report anew: run the demo, open it, print its report, its figures, and the picture of the README.
#
#   tools/example_report.sh          everything, about two minutes
#   tools/example_report.sh --page   the page and the figures alone, from the numbers that are there
set -eu
cd "$(dirname "$0")/.."
root=$PWD
example=$root/docs/example-report
PATH=$root/.venv/bin:$PATH

# What is typed is printed on the page, so it is typed where the names are short.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ "${1:-}" = --page ]; then
    mkdir "$work/runs"
    ln -s "$example/study" "$work/runs/demo"
else
    (cd "$work" && leakscale demo && leakscale study open runs/demo)
    rm -rf "$example/study"
    for name in analysis/disclosure.json analysis/results.parquet provenance.json evidence/audits/verification.json; do
        [ -f "$work/runs/demo/$name" ] || continue
        mkdir -p "$(dirname "$example/study/$name")"
        cp "$work/runs/demo/$name" "$example/study/$name"
    done
fi
rm -rf "$example/figures"
(cd "$work" && leakscale report runs/demo --output "$example/report.html" --figures "$example/figures")
if command -v chromium >/dev/null 2>&1; then
    chromium --headless --no-sandbox --hide-scrollbars --window-size=1180,1150 --screenshot="$root/docs/report.png" \
        "file://$example/report.html" >/dev/null 2>&1
fi

"""Time the scan of a training corpus, and count what it meets where nothing is.

    python bench/freshness.py                    # text and code of this machine
    python bench/freshness.py FOLDER...          # or of these folders

An edition of 64 shapes and 2,048 families is looked for in text files found here: source code and prose
of manuals, both at least 99 % ASCII, and other text, in other scripts and encodings.
Printed are MB a second of one core on each, the ratio to `grep -F -f` with the same needles in the same run (grep
knows neither case nor normalization nor records, and has less to do for it), peak memory, and every false encounter:
this machine's text has never seen the edition, so each is one.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from leakscale.freshness.scan.needles import Needles, needles_of
from leakscale.freshness.scan.reading import corpus_files
from leakscale.freshness.scan.scanning import Scanned, scan_corpus
from leakscale.models import Condition, Family
from leakscale_server.core.building.construction import FamilySlot
from leakscale_server.core.building.families import public_families
from leakscale_server.core.shapes import parse_shape

CATALOGS = Path(__file__).parent.parent / "catalogs"
FAMILIES_PER_CELL = 16
BYTES_MAX = 64 << 20
FILE_BYTES_MAX = 4 << 20
"""Of one file, so that none makes up most of the text."""
CODE, PROSE = {".py", ".js", ".c", ".h", ".rs", ".java", ".go"}, {".txt", ".md", ".rst", ".html", ".1"}
FOLDERS = ("/usr/share", "/usr/lib", sys.prefix)


def families() -> Iterator[Family]:
    """Build an edition that no text has ever seen."""
    seed = os.urandom(32)
    for path in sorted(CATALOGS.glob("*/*.toml")):
        shape = parse_shape(path.read_text(encoding="utf-8"), source=path.name)
        for condition in Condition:
            for ordinal in range(FAMILIES_PER_CELL):
                slot = FamilySlot(shape.id, condition, ordinal)
                yield from public_families(shape, slot, families_per_cell=FAMILIES_PER_CELL, public_seed=seed)


def gather(folders: Iterable[str], endings: set[str], path: Path, *, is_ascii: bool) -> int:
    """Join files that are mostly ASCII, or those that are not, and return the size in bytes."""
    with path.open("wb") as joined:
        for folder in folders:
            for root, _, names in os.walk(folder):
                for name in sorted(names):
                    source = Path(root) / name
                    if source.suffix in endings and source.is_file() and joined.tell() < BYTES_MAX:
                        content = source.read_bytes()[:FILE_BYTES_MAX]
                        plain = len(content.decode("ascii", "ignore"))
                        if content and (plain >= 0.99 * len(content)) is is_ascii:
                            joined.write(content)
        return joined.tell()


def scanned(path: Path, needles: Needles) -> tuple[float, Scanned]:
    """Return processor seconds and the result."""
    start = time.process_time()
    result = scan_corpus(corpus_files([path]), needles)
    return time.process_time() - start, result


def grep_seconds(path: Path, needles: Needles, folder: Path) -> float:
    """Return the processor seconds of grep with as many fixed strings."""
    patterns = folder / "patterns"
    patterns.write_text("\n".join(one.text for one in needles.by_form.values()), encoding="utf-8")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = ["grep", "-c", "-a", "-F", "-f", str(patterns), str(path)]
    subprocess.run(command, capture_output=True, check=False, env={**os.environ, "LC_ALL": "C"})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> int:
    folders = sys.argv[1:] or FOLDERS
    start = time.process_time()
    needles = needles_of(families())
    print(f"{len(needles.by_form):,} needles of 2,048 families, collected in {time.process_time() - start:.1f} s")
    failed = False
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary)
        for name, endings, is_ascii in (("code", CODE, True), ("prose", PROSE, True), ("other", CODE | PROSE, False)):
            path = root / f"{name}.txt"
            size = gather(folders, endings, path, is_ascii=is_ascii)
            seconds, result = scanned(path, needles)
            by_grep = grep_seconds(path, needles, root)
            rate, ratio = size / seconds / 1e6, by_grep / seconds
            bar = "bar 100" if is_ascii else ""
            print(f"{name:<6} {size / 1e6:6.0f} MB  {rate:6.0f} MB/s a core   {bar:7}   {ratio:5.2f} x grep -F -f")
            print(f"       {false_encounters(result, size)}")
            failed |= rate < 100 and is_ascii
            print(f"       peak memory {', '.join(memory(path, part) for part in (4, 1))}")
        lines = root / "code.jsonl"
        text = (root / "code.txt").read_bytes()[: 32 << 20].decode("utf-8", "replace")
        with lines.open("w", encoding="utf-8") as file:
            file.writelines(f"{json.dumps({'text': text[at : at + 4000]})}\n" for at in range(0, len(text), 4000))
        seconds, _ = scanned(lines, needles)
        print(f"jsonl  {lines.stat().st_size / 1e6:6.0f} MB  {lines.stat().st_size / seconds / 1e6:6.0f} MB/s a core")
    return int(failed)


PEAK = """
import sys
from pathlib import Path
from leakscale.freshness.scan.needles import needles_of
from leakscale.freshness.scan.reading import corpus_files
from leakscale.freshness.scan.scanning import scan_corpus
scan_corpus(corpus_files([Path(sys.argv[1])]), needles_of([]))
status = Path("/proc/self/status").read_text().split()
print(int(status[status.index("VmHWM:") + 1]) >> 10)
"""


def memory(path: Path, part: int) -> str:
    """Scan a part of a file in a process of its own, and say what that took at most."""
    whole = path.read_bytes()
    with tempfile.NamedTemporaryFile(suffix=".txt", dir=path.parent) as file:
        file.write(whole[: len(whole) // part])
        file.flush()
        done = subprocess.run([sys.executable, "-c", PEAK, file.name], capture_output=True, text=True, check=True)
    return f"{done.stdout.strip()} MiB for {len(whole) / part / 1e6:.0f} MB"


def false_encounters(result: Scanned, size: int) -> str:
    """Say what was met where nothing is."""
    tally = result.tally
    kinds = ", ".join(f"{kind.value} {count.hit_count}" for kind, count in tally.by_kind.items()) or "none"
    counted = sum(count.hit_count for count in tally.counted.values())
    rate = tally.evidence.hit_count / (size / 1e9)
    texts = "; ".join(one.text for one in list(tally.met.values())[:3])
    words = f"handles alone {counted}, words with a marker's form {len(tally.markers)}"
    return f"false evidence: {kinds} ({rate:.1f} a GB){f': {texts}' if texts else ''}; {words}"


if __name__ == "__main__":
    raise SystemExit(main())

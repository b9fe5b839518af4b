"""Feed the server's decoders with bytes that coverage steers, for a number of seconds each.

    python tools/fuzz.py [--seconds 60] [frames|canonical]

Needs `pip install atheris`. `frames` reads result headers, job headers, greetings and records; `canonical` reads values
and writes back what it could read. Both bytes come from inside a sandbox, so anything but the decoder's own error, and
any value whose bytes are not the ones that were read, is a finding: the input lands in the folder and the exit code is
not 0. Without a name, one process after the other runs each.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

INPUT_BYTES_MAX = 4096


def fuzz_frames(wire: ModuleType) -> Callable[[bytes], None]:
    """Return the target that takes its bytes for every frame that a worker or a server could send."""

    def once(data: bytes) -> None:
        for unpack, size in (
            (wire.ResultHeader.unpack, wire.RESULT_HEADER.size),
            (wire.JobHeader.unpack, wire.JOB_HEADER.size),
            (wire.greeting_size, wire.GREETING_HEADER.size),
        ):
            if len(data) >= size:
                with contextlib.suppress(wire.WireError):
                    unpack(data[:size])
        for record_count in (1, 2, 8):
            try:
                records = wire.decode_records(data, record_count=record_count)
            except wire.WireError:
                continue
            written = b"".join(wire.encode_record(verdict, body) for verdict, body in records)
            assert (len(records), written) == (record_count, data)

    return once


def fuzz_canonical(reader: ModuleType, writer: ModuleType) -> Callable[[bytes], None]:
    """Return the target that reads canonical bytes, and writes what it read."""

    def once(data: bytes) -> None:
        try:
            value = reader.decode_value(data)
        except reader.NotCanonicalError:
            return
        reader.canonical_text(data)
        if isinstance(value, reader.Rows):
            written = writer.encode_rows(
                value.column_names, value.rows, ordered=value.is_ordered, byte_count_max=len(data)
            )
        else:
            written = writer.encode_value(value, byte_count_max=len(data))
        assert written == data

    return once


def fuzz(name: str, seconds: int, folder: Path) -> None:
    """Fuzz one target in this process; ends it."""
    try:
        atheris = importlib.import_module("atheris")
    except ImportError:
        raise SystemExit("fuzz: atheris is not installed; run `pip install atheris`") from None
    with atheris.instrument_imports(include=["leakscale_sandbox"]):
        wire, reader, writer = (
            importlib.import_module(f"leakscale_sandbox.{module}")
            for module in ("wire", "canonical_reader", "canonical")
        )
    target = fuzz_frames(wire) if name == "frames" else fuzz_canonical(reader, writer)
    corpus = folder / name
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds(wire, writer)):
        (corpus / f"seed-{number}").write_bytes(seed)
    limits = [f"-max_total_time={seconds}", f"-max_len={INPUT_BYTES_MAX}", "-timeout=10", "-print_final_stats=1"]
    atheris.Setup([sys.argv[0], *limits, f"-artifact_prefix={folder}/{name}-", str(corpus)], target)
    atheris.Fuzz()


def seeds(wire: ModuleType, writer: ModuleType) -> list[bytes]:
    """Return honest bytes to start from."""
    verdicts = list(wire.Verdict)
    values = ([1, -2.5, None, True, "é"], {"a": (1, [2]), "b": {}}, 2**200, float("inf"))
    written = [writer.encode_value(value, byte_count_max=INPUT_BYTES_MAX) for value in values]
    for ordered in (True, False):
        rows = [(1, b"x"), (2, None), (2, "y")]
        written.append(writer.encode_rows(["n", "n"], rows, ordered=ordered, byte_count_max=INPUT_BYTES_MAX))
    records = [wire.encode_record(verdicts[0], body) for body in written]
    header = wire.ResultHeader(wire.Ending.EXITED, 0, 1, 1, 7, 3, 5, 4, 100).pack()
    job = wire.encode_job([b"f"], [b"p"], sequence=1, domain=wire.DomainCode.SQL, is_ordered=True, limits=wire.Limits())
    return [*written, *records, b"".join(records[:2]), header, job, wire.encode_greeting({"a": 1})]


def main() -> None:
    """Run the targets that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=60, help="for each decoder")
    parser.add_argument("--folder", type=Path, default=Path("runs/fuzz"), help="keeps inputs for the next run")
    parser.add_argument("target", nargs="?", choices=("frames", "canonical"))
    options = parser.parse_args()
    if options.target:
        fuzz(options.target, options.seconds, options.folder)
        return
    for name in ("frames", "canonical"):
        print(f"== {name}", flush=True)
        # libFuzzer ends its process, so each target has one.
        command = [sys.executable, __file__, name, "--seconds", str(options.seconds), "--folder", str(options.folder)]
        done = subprocess.run(command, check=False)
        if done.returncode:
            raise SystemExit(done.returncode)


if __name__ == "__main__":
    main()

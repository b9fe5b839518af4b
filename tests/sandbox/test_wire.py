"""Frames: what one side packs the other unpacks, and hostile bytes raise WireError and nothing else."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from leakscale_sandbox.verdicts import Limits, Verdict
from leakscale_sandbox.wire import (
    GREETING_BYTES_MAX,
    GREETING_HEADER,
    JOB_BYTES_MAX,
    JOB_HEADER,
    JOB_MAGIC,
    RESULT_BYTES_MAX,
    RESULT_HEADER,
    DomainCode,
    Ending,
    JobHeader,
    ResultHeader,
    WireError,
    decode_records,
    encode_job,
    encode_record,
    greeting_size,
)

RECORDS = st.lists(st.tuples(st.sampled_from(Verdict), st.binary(max_size=200)), min_size=1, max_size=16)


def a_result(**changes: int) -> ResultHeader:
    fields = {
        "code": 0,
        "slot": 1,
        "program_count": 1,
        "sequence": 7,
        "body_bytes": 3,
        "wall_time_us": 5,
        "cpu_time_us": 4,
    }
    return ResultHeader(Ending.EXITED, **{**fields, **changes})


@given(RECORDS)
def test_records_survive_the_way_there_and_back(records: list[tuple[Verdict, bytes]]) -> None:
    """Each fixture gets its own verdict and bytes."""
    data = b"".join(encode_record(verdict, body) for verdict, body in records)

    assert decode_records(data, record_count=len(records)) == records


@given(st.binary(max_size=200), st.integers(1, 16))
def test_hostile_records_raise_wire_error_only(data: bytes, record_count: int) -> None:
    """A candidate owns these bytes."""
    with contextlib.suppress(WireError):
        assert len(decode_records(data, record_count=record_count)) == record_count


@given(RECORDS)
def test_another_count_of_records_is_refused(records: list[tuple[Verdict, bytes]]) -> None:
    """A program that writes one result too many or too few must not shift the others."""
    data = b"".join(encode_record(verdict, body) for verdict, body in records)

    for record_count in (len(records) + 1, len(records) - 1):
        with pytest.raises(WireError):
            decode_records(data, record_count=record_count)


@given(st.binary(min_size=RESULT_HEADER.size, max_size=RESULT_HEADER.size))
def test_hostile_result_headers_raise_wire_error_only(data: bytes) -> None:
    """Even PID 1 is not believed beyond its frame."""
    with contextlib.suppress(WireError):
        assert ResultHeader.unpack(data).body_bytes <= RESULT_BYTES_MAX


@given(st.binary(min_size=JOB_HEADER.size - 4, max_size=JOB_HEADER.size - 4))
@example(bytes(JOB_HEADER.size - 4))
def test_a_hostile_job_header_raises_wire_error_only(data: bytes) -> None:
    """Whoever speaks to the worker: a limit of zero, a domain that does not exist, no program at all."""
    with contextlib.suppress(WireError):
        header = JobHeader.unpack(JOB_MAGIC + data)
        assert header.pack() == JOB_MAGIC + data


@given(st.binary(min_size=GREETING_HEADER.size, max_size=GREETING_HEADER.size))
def test_a_hostile_greeting_raises_wire_error_only(data: bytes) -> None:
    """Its size is read before the body is."""
    with contextlib.suppress(WireError):
        assert 0 <= greeting_size(data) <= GREETING_BYTES_MAX


@given(RECORDS, st.data())
def test_a_record_that_is_cut_or_changed_never_shifts_the_others(
    records: list[tuple[Verdict, bytes]], data: st.DataObject
) -> None:
    """Whatever still parses was written so: no two bodies decode to the same records."""
    written = bytearray(b"".join(encode_record(verdict, body) for verdict, body in records))
    place = data.draw(st.integers(0, len(written) - 1))
    written[place] ^= data.draw(st.integers(1, 255))

    with pytest.raises(WireError):
        decode_records(bytes(written[:place]), record_count=len(records))
    with contextlib.suppress(WireError):
        read = decode_records(bytes(written), record_count=len(records))
        assert b"".join(encode_record(verdict, body) for verdict, body in read) == bytes(written)
        assert read != records


@pytest.mark.parametrize("code", list(Ending))
def test_a_result_header_survives_the_way_there_and_back(code: Ending) -> None:
    """Worker and server share one definition."""
    header = ResultHeader(code, 9, 1, 3, 7, 3, 5, 4, 100)

    assert ResultHeader.unpack(header.pack()) == header


def test_an_announced_size_beyond_the_frame_is_refused() -> None:
    """A size is checked before anything is read or allocated."""
    packed = bytearray(a_result().pack())
    packed[12:16] = (RESULT_BYTES_MAX + 1).to_bytes(4, "little")

    with pytest.raises(WireError):
        ResultHeader.unpack(bytes(packed))


def test_a_job_header_survives_the_way_there_and_back() -> None:
    """Limits travel with the job: a limit that got lost would not bite."""
    limits = Limits(1.5, 2, 64 << 20, 1000, 5_000_000, 10)
    frame = encode_job([b"a", b""], [b"p"], sequence=3, domain=DomainCode.SQL, is_ordered=False, limits=limits)

    assert JobHeader.unpack(frame[: JOB_HEADER.size]) == JobHeader(3, DomainCode.SQL, False, 2, 1, 14, limits)
    assert frame[JOB_HEADER.size :] == b"\1\0\0\0a\0\0\0\0\1\0\0\0p"


@pytest.mark.parametrize(
    ("fixtures", "programs"), [([], [b"p"]), ([b"f"], []), ([b"f"] * 65, [b"p"]), ([bytes(JOB_BYTES_MAX)], [b"p"])]
)
def test_a_job_that_does_not_fit_is_refused(fixtures: list[bytes], programs: list[bytes]) -> None:
    """The server refuses before it sends, so the lane stays in step."""
    with pytest.raises(WireError):
        encode_job(fixtures, programs, sequence=1, domain=DomainCode.PYTHON, is_ordered=True, limits=Limits())


def test_a_greeting_of_another_kind_is_refused() -> None:
    """A container of somebody else must not be taken for a worker."""
    for header in (b"XXXX\0\0\0\0", b"LSG1\xff\xff\xff\xff"):
        with pytest.raises(WireError):
            greeting_size(header)


@pytest.mark.parametrize("field", ["wall_time_s_max", "cpu_time_s_max", "memory_bytes_max", "output_bytes_max"])
@pytest.mark.parametrize("value", [0, -1, 1 << 31])
def test_a_limit_that_would_not_bite_is_refused(field: str, value: int) -> None:
    """Zero means no limit to some kernels interfaces."""
    with pytest.raises(ValueError, match=field):
        Limits(**{field: value})


def test_verdicts_that_depend_on_load_are_not_deterministic() -> None:
    """Only a deterministic difference may certify."""
    assert {verdict for verdict in Verdict if not verdict.is_deterministic} == {
        Verdict.CPU_LIMIT,
        Verdict.MEMORY_LIMIT,
        Verdict.TIMEOUT,
        Verdict.KILLED,
    }

"""Streams whose client does nothing end; those whose server is at work do not."""

from __future__ import annotations

from leakscale_server.services.idle_streams import IdleStreams


class Clock:
    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def test_a_client_that_sends_nothing_is_ended_and_one_that_sends_is_not() -> None:
    """The time counts from the last message."""
    clock, ended = Clock(), list[str]()
    streams = IdleStreams(60, monotonic_s=clock)

    def slow() -> object:
        for number in range(3):
            clock.now_s += 50
            assert streams.look() == 0
            yield number
        clock.now_s += 61
        assert streams.look() == 1

    with streams.watching(lambda: ended.append("silent")) as stream:
        assert list(stream.incoming(slow())) == [0, 1, 2]  # type: ignore[arg-type]

    assert ended == ["silent"]
    assert streams.look() == 0


def test_a_server_at_work_ends_nobodys_stream() -> None:
    """Certifying a family may take longer than any client may be silent."""
    clock = Clock()
    streams = IdleStreams(60, monotonic_s=clock)
    with streams.watching(lambda: None) as stream:
        for _ in stream.incoming([1, 2]):
            clock.now_s += 1000
            assert streams.look() == 0
        with stream.waiting():
            clock.now_s += 59
            assert streams.look() == 0
            clock.now_s += 2
            assert streams.look() == 1

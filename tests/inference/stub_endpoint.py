"""An OpenAI-compatible server whose model is a hash, and which fails in every way that a real one was seen to.

Faults are set on the running stub, so that a test can show the healthy answer first and then the attack.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

__all__ = ["Faults", "Stub", "serving"]

END: Final = 0


@dataclass
class Faults:
    """What goes wrong. Everything is off in a healthy server."""

    transport: Callable[[int], str | None] = lambda number: None
    """From a request's number to `429`, `500`, `dropped`, `truncated`, `not-json`, `nested`, `no-choices`, or None."""
    status: int | None = None
    """Refuse every request with this status."""
    ignores_constraint: bool = False
    ignores_constraint_from: int | None = None
    """Number of the request from which on the constraint is ignored: a server that was started again without it."""
    finish_reason: Callable[[int], str | None] = lambda number: "stop"
    """From the number of a request to how its answer ends."""
    ignores_adapter: bool = False
    ignores_seed: bool = False
    loops_in_whitespace: bool = False
    adds_a_bos: bool = False
    shifts_by_order: float = 0.0
    """Nats by which a log-probability moves with the number of the request."""
    has_no_echo: bool = False
    reply_model: Callable[[int, str], str | None] = lambda number, asked: asked
    """From the number of a request and the model that it asks for to the one that its answer names."""


@dataclass
class Stub:
    """A running server."""

    url: str
    faults: Faults = field(default_factory=Faults)
    requests: list[dict[str, Any]] = field(default_factory=list)
    """Every body that arrived, in order, with its path and authorization."""
    failures: list[str] = field(default_factory=list)
    """Every transport fault that was injected: proof that the attack happened."""

    def bodies(self, path: str) -> list[dict[str, Any]]:
        """Return the bodies that were sent to a path."""
        return [body for body in self.requests if body["path"] == path]


Respond = Callable[[dict[str, Any], str, int, Faults], dict[str, Any]]
"""From body, path, number of the request and faults to the answer's body, but for the model that it names."""


@contextlib.contextmanager
def serving(respond: Respond | None = None) -> Iterator[Stub]:
    """Run a stub on a port of its own for as long as the block runs.

    Args:
        respond: Another model than the hash.
    """
    lock, answer = threading.Lock(), respond or _answer

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = 1 << 16
        disable_nagle_algorithm = True

        def log_message(self, *args: object) -> None:
            pass

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            with lock:
                number = len(stub.requests)
                stub.requests.append({**body, "path": self.path, "authorization": self.headers.get("authorization")})
                fault = stub.faults.transport(number)
                if fault is not None:
                    stub.failures.append(fault)
            if stub.faults.status is not None:
                self._send(stub.faults.status, {"error": {"message": "no such\nthing"}})
            elif fault is None:
                self._send(200, _respond(answer, body, self.path, number, stub.faults))
            else:
                self._fail(fault, body, number)

        def _fail(self, fault: str, body: dict[str, Any], number: int) -> None:
            whole = json.dumps(_respond(answer, body, self.path, number, stub.faults)).encode()
            match fault:
                case "429":
                    self._send(429, {"error": {"message": "slow down"}}, {"Retry-After": "0.01"})
                case "500":
                    self._send(500, {"error": "out of memory"})
                case "dropped":
                    self.connection.shutdown(socket.SHUT_RDWR)
                    self.close_connection = True
                case "truncated":
                    self._send_bytes(200, whole[: len(whole) // 2], length=len(whole))
                    self.close_connection = True
                case "not-json":
                    self._send_bytes(200, whole[: len(whole) // 2])
                case "nested":
                    self._send_bytes(200, b"[" * 100_000)
                case "no-choices":
                    self._send(200, {"choices": []})

        def _send(self, status: int, value: object, headers: dict[str, str] | None = None) -> None:
            self._send_bytes(status, json.dumps(value).encode(), headers=headers)

        def _send_bytes(
            self, status: int, content: bytes, *, length: int | None = None, headers: dict[str, str] | None = None
        ) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(content) if length is None else length))
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    stub = Stub(f"http://127.0.0.1:{server.server_port}/v1")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield stub
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _respond(answer: Respond, body: dict[str, Any], path: str, number: int, faults: Faults) -> dict[str, Any]:
    named = faults.reply_model(number, body["model"])
    return answer(body, path, number, faults) | ({} if named is None else {"model": named})


def _answer(body: dict[str, Any], path: str, number: int, faults: Faults) -> dict[str, Any]:
    if body.get("echo") and not faults.has_no_echo:
        return _scores(body, number, faults)
    prompt = body.get("prompt") or [turn["content"] for turn in body["messages"]]
    text, finish = _text(body, prompt, number, faults)
    count = (len(body["prompt"]) if "prompt" in body else 4) + faults.adds_a_bos
    message = (
        {"text": text} if path.endswith("/v1/completions") else {"message": {"role": "assistant", "content": text}}
    )
    return {"choices": [{**message, "finish_reason": finish}], "usage": {"prompt_tokens": count}}


def _text(body: dict[str, Any], prompt: object, number: int, faults: Faults) -> tuple[str, str | None]:
    if faults.loops_in_whitespace:
        return '{"choice": ' + " " * body["max_tokens"], "length"
    choices = _choices(body)
    begun = faults.ignores_constraint_from
    if choices is None or faults.ignores_constraint or (begun is not None and number >= begun):
        return "The first one, I think.", faults.finish_reason(number)
    model = "base" if faults.ignores_adapter else body["model"]
    chance = [model, prompt, number if faults.ignores_seed else body["seed"]]
    return choices[int(_fraction(chance) * len(choices))], faults.finish_reason(number)


def _choices(body: dict[str, Any]) -> list[str] | None:
    if "structured_outputs" in body:
        return list(body["structured_outputs"]["choice"])
    if "guided_choice" in body:
        return list(body["guided_choice"])
    if "response_format" in body:
        values = body["response_format"]["json_schema"]["schema"]["properties"]["choice"]["enum"]
        return [json.dumps({"choice": value}, separators=(",", ":")) for value in values]
    return None


def _scores(body: dict[str, Any], number: int, faults: Faults) -> dict[str, Any]:
    model = "base" if faults.ignores_adapter else body["model"]
    tokens = [*body["prompt"], END]
    values = [
        math.log(0.01 + 0.98 * _fraction([model, tokens[: place + 1]])) - faults.shifts_by_order * number
        for place in range(len(tokens))
    ]
    return {"choices": [{"text": "", "logprobs": {"token_logprobs": [None, *values[1:]]}}]}


def _fraction(value: object) -> float:
    return int.from_bytes(hashlib.sha256(json.dumps(value).encode()).digest()[:6], "big") / 2**48

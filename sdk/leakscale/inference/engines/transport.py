"""One HTTP request at a time, and what each way of failing means.

What says nothing about the model's answer (no connection, no time left, a busy or broken server, a body cut off) is a
`TransportFailure` and may be asked again. What would fail the same way again is one of the SDK's errors.

httpx is imported here only.
"""

from __future__ import annotations

import json
from typing import Any, Final

import httpx

from leakscale.errors import (
    AuthenticationError,
    InvalidRequestError,
    LeakScaleError,
    ModelError,
    NotFoundError,
    PermissionDeniedError,
)
from leakscale.reading import parse_json

__all__ = ["HttpTransport", "TransportFailure"]

_PASSING: Final = frozenset({408, 409, 425, 429})
"""Client errors that are about the moment and not the request; every 5xx is, too, but one."""
_NOT_IMPLEMENTED: Final = 501
_BODY_BYTES_MAX: Final = 64 * 1024 * 1024
"""Of an answer, unpacked; the log-probabilities of a prompt of 100,000 tokens take a tenth of it."""
_RETRY_AFTER_S_MAX: Final = 60.0
_REFUSALS: Final[dict[int, type[LeakScaleError]]] = {
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
}


class TransportFailure(Exception):  # noqa: N818  an outcome of a request, caught and recorded as an attempt
    """No whole answer arrived."""

    def __init__(self, detail: str, *, retry_after_s: float = 0.0) -> None:
        super().__init__(detail)
        self.detail = detail
        self.retry_after_s = retry_after_s
        """Seconds that the server asked to be left alone, at most a minute."""


class HttpTransport:
    """Posts JSON to one endpoint; safe to share among threads."""

    def __init__(
        self, url: str, *, api_key: str | None, api_key_variable: str, timeout_s: float, connections_max: int
    ) -> None:
        self._url = url.rstrip("/")
        variable = api_key_variable or "a variable, which you name by --api-key-variable,"
        self._next_steps: dict[int, str] = {
            401: f"set {variable} to a key that it accepts"
            + ("; none was sent, for it is not set" if api_key is None else ""),
            403: f"give {variable} a key that may use this model",
            404: "check the URL, and that served_model and served_adapter are names that it serves",
        }
        self._client = httpx.Client(
            headers={} if api_key is None else {"Authorization": f"Bearer {api_key}"},
            timeout=httpx.Timeout(timeout_s, connect=min(timeout_s, 10.0)),
            limits=httpx.Limits(max_connections=connections_max, max_keepalive_connections=connections_max),
        )

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Send a request and return the JSON object that came back.

        Raises:
            TransportFailure: If no whole answer arrived.
            ModelError: If the answer does not end.
            LeakScaleError: If the endpoint refuses the request for what it is.
        """
        try:
            with self._client.stream("POST", f"{self._url}/{path}", json=body) as response:
                content = self._read(response)
        except httpx.InvalidURL as error:
            raise InvalidRequestError(
                f"endpoint '{self._url}' is no URL: {error}; give e.g. http://host:8000/v1"
            ) from error
        except httpx.UnsupportedProtocol as error:
            raise InvalidRequestError(
                f"endpoint '{self._url}' is no http URL; give e.g. http://host:8000/v1"
            ) from error
        except httpx.HTTPError as error:
            raise TransportFailure(type(error).__name__) from error
        if response.is_success:
            return _object(content)
        is_passing = response.is_server_error and response.status_code != _NOT_IMPLEMENTED
        if response.status_code in _PASSING or is_passing:
            raise TransportFailure(f"HTTP {response.status_code}", retry_after_s=_retry_after_s(response))
        refusal = _REFUSALS.get(response.status_code, InvalidRequestError)
        next_step = self._next_steps.get(response.status_code, "change the engine's options to what it takes")
        raise refusal(f"endpoint '{self._url}/{path}' answers {response.status_code}: {_reason(content)}; {next_step}")

    def close(self) -> None:
        """Close every connection."""
        self._client.close()

    def _read(self, response: httpx.Response) -> bytes:
        content = bytearray()
        for part in response.iter_bytes():
            content += part
            if len(content) > _BODY_BYTES_MAX:
                raise ModelError(
                    f"endpoint '{self._url}' answers with more than {_BODY_BYTES_MAX} bytes; see what serves there"
                )
        return bytes(content)


def _object(content: bytes) -> dict[str, Any]:
    try:
        value = parse_json(content)
    except ValueError as error:
        raise TransportFailure("body is not JSON") from error
    if not isinstance(value, dict):
        raise TransportFailure("body is not a JSON object")
    return value


def _retry_after_s(response: httpx.Response) -> float:
    """Read the seconds of a Retry-After header; a date in it counts as none."""
    try:
        return min(max(0.0, float(response.headers.get("retry-after", "0"))), _RETRY_AFTER_S_MAX)
    except ValueError:
        return 0.0


def _reason(content: bytes) -> str:
    """Return the endpoint's own words in one line, at most 200 characters of them."""
    try:
        value = parse_json(content)
        error = value.get("error", value)
        text = error.get("message", "") if isinstance(error, dict) else str(error)
    except (ValueError, AttributeError):
        text = content.decode(errors="replace")
    return " ".join(json.dumps(text, ensure_ascii=False).strip('"').split())[:200]

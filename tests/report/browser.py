"""A headless Chromium, spoken to over its DevTools pipe: what it shows of a page, and what it complains about.

No driver and no WebSocket: with `--remote-debugging-pipe`, messages are JSON, each ended by a zero byte, on the file
descriptors 3 and 4.
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import itertools
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

__all__ = ["Browser", "Look", "browser_program", "faults_of", "looks"]

_PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
_QUESTIONS = {
    "missing_glyphs": """(() => {
  const canvas = document.createElement("canvas"), pen = canvas.getContext("2d", {willReadFrequently: true});
  canvas.width = canvas.height = 32;
  const drawn = (letter) => {
    pen.clearRect(0, 0, 32, 32);
    pen.font = "16px " + getComputedStyle(document.body).fontFamily;
    pen.fillText(letter, 4, 22);
    return pen.getImageData(0, 0, 32, 32).data.join();
  };
  const missing = drawn("\\u{10FFFD}");
  return [...new Set(document.body.textContent)].filter((letter) => letter.trim() && drawn(letter) === missing);
})()""",
    "overflow_px": "document.documentElement.scrollWidth - document.documentElement.clientWidth",
    "duplicate_ids": """[...document.querySelectorAll("[id]")].map((element) => element.id)
      .filter((id, place, all) => all.indexOf(id) < place)""",
    "wide_elements": """[...document.querySelectorAll("body *")].filter((element) => {
  if (element.closest(".scroll, .skip, svg")) return false;
  const box = element.getBoundingClientRect();
  return box.width && box.right > document.documentElement.clientWidth + 0.5;
}).map((element) => element.outerHTML.slice(0, 120))""",
    "smallest_letter_px": """Math.min(...[...document.querySelectorAll("svg text")].map((text) => {
  const picture = text.ownerSVGElement;
  return parseFloat(getComputedStyle(text).fontSize) * picture.clientWidth / picture.viewBox.baseVal.width;
}))""",
    "pale_words": """(() => {
  const canvas = document.createElement("canvas"), pen = canvas.getContext("2d", {willReadFrequently: true});
  canvas.width = canvas.height = 1;
  const channels = (color) => {
    pen.clearRect(0, 0, 1, 1);
    pen.fillStyle = color;
    pen.fillRect(0, 0, 1, 1);
    return [...pen.getImageData(0, 0, 1, 1).data];
  };
  const light = (color) => channels(color).slice(0, 3).map((value) => value / 255)
    .map((value) => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
    .reduce((sum, value, place) => sum + value * [0.2126, 0.7152, 0.0722][place], 0);
  const ground = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const color = getComputedStyle(each).backgroundColor;
      if (channels(color)[3] === 255) return color;
    }
    return "white";
  };
  const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), pale = [];
  while (words.nextNode()) {
    const element = words.currentNode.parentElement, style = getComputedStyle(element);
    if (!words.currentNode.textContent.trim() || !element.getClientRects().length) continue;
    const ink = element.ownerSVGElement ? style.fill : style.color;
    const [low, high] = [light(ink), light(ground(element))].sort((a, b) => a - b);
    if ((high + 0.05) / (low + 0.05) < 4.5) pale.push(words.currentNode.textContent.trim());
  }
  return pale;
})()""",
    "cut_letters": """[...document.querySelectorAll("svg text")].filter((text) => {
  const box = text.getBoundingClientRect(), frame = text.ownerSVGElement.getBoundingClientRect();
  return box.width && (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1
    || box.bottom > frame.bottom + 1);
}).map((text) => text.textContent)""",
    "overlapping_letters": """[...document.querySelectorAll("svg")].flatMap((picture) => {
  const texts = [...picture.querySelectorAll("text")].map((text) => [text.textContent, text.getBoundingClientRect()]);
  return texts.flatMap(([words, a], index) => texts.slice(index + 1).filter(([, b]) => a.width && b.width
    && Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > a.height * 0.35)
    .map(([other]) => words + " | " + other));
})""",
}


def browser_program() -> str | None:
    """Return a Chromium of this machine, or None."""
    return next(filter(None, map(shutil.which, _PROGRAMS)), None)


@dataclass(frozen=True, slots=True)
class Look:
    """What a page looks like in a window of one width and theme."""

    complaints: tuple[str, ...]
    """Console messages, exceptions, broken rules of its content security policy."""
    requests: tuple[str, ...]
    """Addresses that were asked for, besides the page itself."""
    missing_glyphs: tuple[str, ...]
    """Letters that no font of this machine has."""
    overflow_px: float
    """By how much the page is wider than its window."""
    wide_elements: tuple[str, ...]
    """Elements that reach beyond the window, outside of what scrolls by itself."""
    smallest_letter_px: float
    """Of any picture, as shown."""
    cut_letters: tuple[str, ...]
    """Words of a picture that reach out of it."""
    overlapping_letters: tuple[str, ...]
    """Pairs of words of a picture that lie on each other."""
    pale_words: tuple[str, ...]
    """Words with a contrast below 4.5 to the ground of the page or card behind them (WCAG 2.2, 1.4.3)."""
    duplicate_ids: tuple[str, ...]
    screenshot: bytes = field(repr=False)
    """PNG of the whole page."""


class Browser:
    """A running Chromium with one tab."""

    def __init__(self, program: str, folder: Path) -> None:
        own_in, their_out = os.pipe()
        their_in, own_out = os.pipe()
        # Neither is 3 or 4, so that neither copy overwrites the other.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (their_in, their_out)]
        redirected = f'exec 3<&{ends[0]} 4>&{ends[1]} {ends[0]}<&- {ends[1]}>&-; exec "$@"'
        command = [
            "bash", "-c", redirected, "bash", program, "--headless", "--no-sandbox",
            "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
            f"--user-data-dir={folder}", "--disable-background-networking", "--disable-component-update",
            "--remote-debugging-pipe",
        ]  # fmt: skip
        self._process = subprocess.Popen(
            command, pass_fds=ends, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        for end in (their_in, their_out, *ends):
            os.close(end)
        self._in, self._out = os.fdopen(own_in, "rb"), os.fdopen(own_out, "wb", buffering=0)
        self._numbers = itertools.count(1)
        self._events: list[dict[str, Any]] = []
        self._received = b""
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        self._session: str = self._ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log", "Audits"):
            self.ask(f"{domain}.enable")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._ask("Browser.close")
        self._out.close()
        self._in.close()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a DevTools method of the tab."""
        return self._ask(method, self._session, **parameters)

    def evaluate(self, expression: str) -> Any:
        """Return the value of an expression in the page."""
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def look(self, page: Path, *, width: int, theme: str) -> Look:
        """Open a page in a window of a width, in CSS pixels, and a theme, `light` or `dark`."""
        self._events.clear()
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
        address = page.absolute().as_uri()
        self.ask("Page.navigate", url=address)
        self._wait_for("Page.loadEventFired")
        self.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        picture = self.ask("Page.captureScreenshot", captureBeyondViewport=True, format="png")["data"]
        # What is folded away is looked at too.
        self.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        seen = {name: self.evaluate(question) for name, question in _QUESTIONS.items()}
        complaints, requests = self._heard(address)
        return Look(
            complaints=complaints,
            requests=requests,
            missing_glyphs=tuple(seen["missing_glyphs"]),
            overflow_px=seen["overflow_px"],
            wide_elements=tuple(seen["wide_elements"]),
            smallest_letter_px=seen["smallest_letter_px"] or 0.0,
            cut_letters=tuple(seen["cut_letters"]),
            overlapping_letters=tuple(seen["overlapping_letters"]),
            pale_words=tuple(seen["pale_words"]),
            duplicate_ids=tuple(seen["duplicate_ids"]),
            screenshot=base64.b64decode(picture),
        )

    def press_tab(self) -> str:
        """Press the tabulator; return the markup of what has the focus now."""
        for kind in ("rawKeyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab", windowsVirtualKeyCode=9)
        return str(self.evaluate("document.activeElement.outerHTML.slice(0, 200)"))

    def _heard(self, address: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        complaints, requests = [], []
        for event in self._events:
            method, facts = event["method"], event["params"]
            if method in {"Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded", "Audits.issueAdded"}:
                complaints.append(json.dumps(facts)[:500])
            if method == "Network.requestWillBeSent" and facts["request"]["url"] != address:
                requests.append(facts["request"]["url"])
        return tuple(complaints), tuple(requests)

    def _ask(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        number = next(self._numbers)
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        self._out.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == number:
                assert "error" not in answer, (method, answer["error"])
                found: dict[str, Any] = answer["result"]
                return found
            self._events.append(answer)

    def _wait_for(self, method: str) -> None:
        while not any(event["method"] == method for event in self._events):
            self._events.append(self._next())

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._received:
            chunk = os.read(self._in.fileno(), 1 << 20)
            if not chunk:
                raise BrokenPipeError("the browser went away")
            self._received += chunk
        line, _, self._received = self._received.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        return message


def faults_of(look: Look) -> dict[str, object]:
    """Return what nobody should see on a page of ours; letters of less than 10 pixels are read by few."""
    faults: dict[str, object] = {
        name: getattr(look, name) for name in Look.__slots__ if name not in {"screenshot", "smallest_letter_px"}
    }
    return {name: found for name, found in faults.items() if found} | (
        {"smallest_letter_px": look.smallest_letter_px} if 0 < look.smallest_letter_px < 10 else {}
    )


def looks(page: Path, folder: Path) -> Iterator[tuple[str, Look]]:
    """Look at a page on a phone and on a desk, in both themes; yield each under its name.

    Args:
        page: The file.
        folder: For the browser's own files.
    """
    program = browser_program()
    assert program is not None, "mark the test `browser`"
    with Browser(program, folder) as browser:
        for width, theme in itertools.product((400, 1400), ("light", "dark")):
            yield f"{width}-{theme}", browser.look(page, width=width, theme=theme)

"""The tool WebFetch: read a page of the web."""

import asyncio
import re
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urljoin, urlsplit

from siding.assistant.tools import markdown, program
from siding.assistant.tools.place import Fetched, Http, Place
from siding.assistant.tools.port import Call, Result, Use
from siding.assistant.tools.spec import failed, spec_of, text
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.capture import CannotStart
from siding.shellguard.face import Effect, ToolUse

# -- Addresses that may be fetched, and where redirects lead ---------------------------------------


LONGEST = 2000  # characters
_PORTS = {"http": 80, "https": 443}


class BadAddress(ValueError):
    """An address cannot be fetched; the text tells why."""


class Origin(NamedTuple):
    """The server that an address names."""

    scheme: str
    host: str
    port: int


def origin_of(address: str) -> Origin:
    """Return the server of an address. Raises BadAddress for what cannot be fetched."""
    if len(address) > LONGEST:
        raise BadAddress(f"it is longer than {LONGEST} characters")
    if any(letter.isspace() or not letter.isprintable() or letter == "\\" for letter in address):
        raise BadAddress("it has a blank, a backslash or an invisible character in it")
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError as error:
        raise BadAddress(str(error)) from error
    if parts.scheme not in _PORTS:
        raise BadAddress("only http:// and https:// can be fetched")
    if not parts.hostname:
        raise BadAddress("it names no host")
    if _has_account(parts):
        raise BadAddress("a user or password in an address is not sent")
    return Origin(parts.scheme, parts.hostname, port or _PORTS[parts.scheme])


def host_of(address: str) -> str:
    """Return the host that an address names, "" if it names none."""
    try:
        return origin_of(address).host
    except BadAddress:
        return ""


def next_address(address: str, location: str) -> tuple[str, bool]:
    """Return where a redirect leads, and whether the same server answers there.

    From http to https of a host it is the same. Raises BadAddress.
    """
    try:
        target = urljoin(address, location.replace(" ", "%20")).partition("#")[0]
    except ValueError as error:
        raise BadAddress(str(error)) from error
    here, there = origin_of(address), origin_of(target)
    is_upgrade = here._replace(scheme="https", port=443) == there and here.port == 80
    return target, here == there or is_upgrade


def _has_account(parts: SplitResult) -> bool:
    return "@" in parts.netloc


# -- The tool WebFetch: read a page of the web -----------------------------------------------------


MOST_BYTES = 5 << 20
LONGEST_S = 30.0
_MOST_REDIRECTS = 5
_MOST_OF_ERROR = 2000  # characters of the page that comes with an error
_CONVERTING = program.Limits(longest_s=10.0, most_bytes=8 << 20)
_HTML = ("text/html", "application/xhtml")
_TEXTS = re.compile(r"text/|application/(?:[\w.+-]*(?:json|xml|yaml|javascript|toml|x-sh)\b)")
_CHARSET = re.compile(r"charset=[\"']?([\w.:-]+)", re.IGNORECASE)
_REDIRECTS = (301, 302, 303, 307, 308)


class WebFetch:
    """Fetches through the port `Http`."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self.spec = spec_of(__file__, "WebFetch", {"url": text("the address")}, "url")

    def is_safe(self, _given: Mapping[str, Any], /) -> bool:
        return True

    def use(self, given: Mapping[str, Any]) -> Use:
        url = given["url"]
        touches = ToolUse("WebFetch", ((Effect.FETCHES, url),))
        return Use(host_of(url), touches=touches, text=f"WebFetch {url[:200]}")

    async def run(self, call: Call) -> Result:
        url, begun = call.given["url"], time.monotonic()
        try:
            origin_of(url)
        except BadAddress as problem:
            return failed(f"{url[:200]} was not fetched: {problem}.")
        if self._place.http is None:
            return failed("The network cannot be reached with this tool here.")
        try:
            async with asyncio.timeout(LONGEST_S):
                fetched = await _following(self._place.http, url)
        except TimeoutError:
            return failed(f"{url} did not answer completely within {LONGEST_S:g} s.")
        except BadAddress as problem:
            return failed(f"{url} redirects to an address that cannot be fetched: {problem}.")
        except OSError as error:
            return failed(f"{url} could not be fetched: {error.strerror or error}")
        if isinstance(fetched, Result):
            return fetched
        shown = await self._text(url, fetched)
        details = {
            "url": url,
            "code": fetched.status,
            "codeText": fetched.reason,
            "bytes": len(fetched.body),
            "durationMs": round((time.monotonic() - begun) * 1000),
        }
        return _result(url, fetched, shown)._replace(details=details)

    async def _text(self, url: str, fetched: Fetched) -> str | None:
        """Return what was fetched as text, a page as Markdown; None if it is no text."""
        kind = fetched.kind.partition(";")[0].strip().lower()
        is_page = kind.startswith(_HTML)
        if not is_page and ((kind and not _TEXTS.match(kind)) or b"\0" in fetched.body[:8192]):
            return None
        page = _decoded(fetched)
        return await self._markdown(page, url) if is_page else page

    async def _markdown(self, page: str, url: str) -> str:
        with tempfile.TemporaryDirectory(prefix="siding-page.") as scratch:
            file = Path(scratch, "page.html")
            file.write_text(page, "utf-8", errors="replace")
            argv = (sys.executable, "-I", "-S", markdown.__file__, str(file), url)
            try:
                output = await program.run(
                    argv, cwd=Path(scratch), env=self._place.env, limits=_CONVERTING
                )
            except CannotStart as error:
                return f"(It is shown as it came: {error})\n{page}"
        if output.code != 0:
            return f"(It is shown as it came: {output.cut or 'it is no proper HTML'}.)\n{page}"
        return output.stdout.decode("utf-8", "replace")


async def _following(http: Http, url: str) -> Fetched | Result:
    """Fetch, and follow redirects on the same server. Raises BadAddress and OSError."""
    at = url
    for _number in range(_MOST_REDIRECTS + 1):
        fetched = await http.get(at, most=MOST_BYTES, timeout_s=LONGEST_S)
        if fetched.status not in _REDIRECTS or not fetched.location:
            return fetched
        target, is_same = next_address(at, fetched.location)
        if not is_same:
            text = f"{at} redirects to another server. If you want that, fetch {target}"
            details = {"url": url, "code": fetched.status, "redirect": target}
            return Result(text, shown=f"redirect to {host_of(target)}", details=details)
        at = target
    return failed(f"{url} redirects more than {_MOST_REDIRECTS} times.")


def _decoded(fetched: Fetched) -> str:
    found = _CHARSET.search(fetched.kind) or _CHARSET.search(
        fetched.body[:2048].decode("ascii", "replace")
    )
    try:
        return fetched.body.decode(found.group(1) if found else "utf-8", "replace")
    except LookupError:  # no encoding is called so
        return fetched.body.decode("utf-8", "replace")


def _result(url: str, fetched: Fetched, shown: str | None) -> Result:
    size = f"{len(fetched.body):,} bytes"
    if fetched.status >= 400:
        text = (shown or "").strip()[:_MOST_OF_ERROR]
        return failed(f"{url} answered {fetched.status} {fetched.reason}\n{text}".rstrip())
    if shown is None:
        kind = fetched.kind.partition(";")[0] or "not text"
        return failed(f"{url} is {kind} ({size}). To have the file, use curl in Bash.")
    note = f"\n\n(Only the first {MOST_BYTES >> 20} MB were read.)" if fetched.is_cut else ""
    text = shown.strip() or "(The page has no text.)"
    return Result(f"{text}{note}", shown=f"{fetched.status}, {size}")

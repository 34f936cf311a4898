"""The tool WebFetch, with servers on this machine."""

import gzip
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from siding.assistant.tools import web_fetch
from siding.assistant.tools.markdown import markdown
from siding.assistant.tools.place import Place
from siding.assistant.tools.web_fetch import BadAddress, next_address, origin_of
from siding.assistant.web_client import WebClient
from siding.shellguard.face import Effect
from unit.assistant.tools.setting import Bench, place_in, with_tools

_HTML = "text/html; charset=utf-8"
_PAGES: dict[str, tuple[int, dict[str, str], bytes]] = {
    "/page": (200, {"Content-Type": _HTML}, "<title>T</title><p>é <a href=x>y</a>".encode()),
    "/old": (200, {"Content-Type": "text/html"}, b'<meta charset="latin-1"><p>\xe9'),
    "/json": (200, {"Content-Type": "application/vnd.x+json"}, b'{"a": 1}'),
    "/plain": (200, {}, b"just text"),
    "/png": (200, {"Content-Type": "image/png"}, b"\x89PNG\0"),
    "/gone": (404, {"Content-Type": "text/plain"}, b"no such page"),
    "/there": (302, {"Location": "/page"}, b""),
    "/round": (302, {"Location": "/round"}, b""),
    "/away": (302, {"Location": "http://127.0.0.2:1/x"}, b""),
    "/mail": (302, {"Location": "mailto:x"}, b""),
    "/much": (200, {"Content-Type": "text/plain"}, b"x" * (6 << 20)),
    "/long": (200, {"Content-Type": "text/plain"}, b"line\n" * 20_000),
    "/packed": (
        200,
        {"Content-Type": "text/plain", "Content-Encoding": "gzip"},
        gzip.compress(b"y" * 50),
    ),
    "/bomb": (
        200,
        {"Content-Type": "text/plain", "Content-Encoding": "gzip"},
        gzip.compress(b"y" * (50 << 20)),
    ),
    "/empty": (200, {"Content-Type": _HTML}, b"<script>x</script>"),
}


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.ended = threading.Event()
        self.asked: list[tuple[str, str | None]] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: object, client_address: object) -> None:
        pass  # who asks may hang up


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        server = self.server
        assert isinstance(server, _Server)
        server.asked.append((self.path, self.headers.get("Proxy-Authorization")))
        if self.path == "/slow":
            self.wfile.write(b"HTTP/1.1 200 OK\r\n")
            server.ended.wait(30)
            return
        status, headers, body = _PAGES.get(self.path, _PAGES["/json"])
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with suppress(OSError):  # who asks has read enough
            self.wfile.write(body)

    def log_message(self, *_args: object) -> None:
        pass


@pytest.fixture
def serving() -> Iterator[_Server]:
    with _Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server
        server.ended.set()
        server.shutdown()
        thread.join()


@pytest.fixture
def server(serving: _Server) -> str:
    return serving.address


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = place_in(tmp_path)
    return place._replace(http=WebClient(place.env))


def test_pages_come_as_text(place: Place, server: str) -> None:
    async def act(at: Bench) -> None:
        page = await at.call("WebFetch", url=f"{server}/page")
        assert page.content == f"# T\n\né [y]({server}/x)"
        assert (page.details["code"], page.details["bytes"]) == (200, 37)
        assert await at.text("WebFetch", url=f"{server}/there") == page.content
        assert await at.text("WebFetch", url=f"{server}/old") == "é"
        assert await at.text("WebFetch", url=f"{server}/json") == '{"a": 1}'
        assert await at.text("WebFetch", url=f"{server}/plain") == "just text"
        assert await at.text("WebFetch", url=f"{server}/packed") == "y" * 50
        assert await at.text("WebFetch", url=f"{server}/empty") == "(The page has no text.)"

    with_tools(place, act)


def test_what_is_no_page_is_said(place: Place, server: str) -> None:
    async def act(at: Bench) -> None:
        for path, words in {
            "/gone": "answered 404 Not Found\nno such page",
            "/png": "is image/png (5 bytes)",
            "/round": "redirects more than 5 times",
            "/mail": "only http:// and https://",
        }.items():
            assert words in await at.error("WebFetch", url=f"{server}{path}")
        for url, words in {
            "ftp://x/": "only http",
            "http://u:p@x/": "user or password",
            "http://x/ y": "blank",
            "http://": "no host",
            "http://127.0.0.1:1/": "could not be fetched",
        }.items():
            assert words in await at.error("WebFetch", url=url)

    with_tools(place, act)


def test_a_redirect_to_another_server_is_told_and_not_followed(place: Place, server: str) -> None:
    async def act(at: Bench) -> None:
        result = await at.call("WebFetch", url=f"{server}/away")
        assert result.content == (
            f"{server}/away redirects to another server. If you want that, fetch "
            "http://127.0.0.2:1/x"
        )
        assert result.details["redirect"] == "http://127.0.0.2:1/x"

    with_tools(place, act)


def test_size_is_bounded_and_long_texts_are_stored(place: Place, server: str) -> None:
    async def act(at: Bench) -> None:
        for path in ("/much", "/bomb"):
            result = await at.call("WebFetch", url=f"{server}{path}")
            assert result.details["bytes"] == 5 << 20
            stored = Path(result.details["persistedOutputPath"]).read_text()
            assert stored.endswith("(Only the first 5 MB were read.)")
        long = await at.text("WebFetch", url=f"{server}/long")
        assert "was stored in" in long
        assert len(long) < 3000

    with_tools(place, act)


def test_time_is_bounded(place: Place, server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_fetch, "LONGEST_S", 0.3)

    async def act(at: Bench) -> None:
        assert "within 0.3 s" in await at.error("WebFetch", url=f"{server}/slow")

    with_tools(place, act)


def test_a_proxy_of_the_environment_is_used(tmp_path: Path, serving: _Server) -> None:
    place = place_in(tmp_path)
    env = {**place.env, "http_proxy": serving.address.replace("//", "//me:secret@")}
    place = place._replace(env=env, http=WebClient(env))

    async def act(at: Bench) -> None:
        assert await at.text("WebFetch", url="http://example.test/a%20b")

    with_tools(place, act)
    ((target, auth),) = serving.asked
    assert target == "http://example.test/a%20b"
    assert auth is not None
    assert auth.startswith("Basic ")


def test_without_a_network_it_says_so(tmp_path: Path) -> None:
    async def act(at: Bench) -> None:
        assert "cannot be reached" in await at.error("WebFetch", url="http://x/")
        use = at.tools["WebFetch"].use({"url": "https://Example.org/a"})
        assert use.pattern == "example.org"
        assert use.touches is not None
        assert use.touches.touches == ((Effect.FETCHES, "https://Example.org/a"),)

    with_tools(place_in(tmp_path), act)


@pytest.mark.parametrize(
    ("here", "location", "there", "is_same"),
    [
        ("http://a/b/c", "d", "http://a/b/d", True),
        ("http://a/", "https://a/x#y", "https://a/x", True),
        ("https://a/", "http://a/", "http://a/", False),
        ("http://a/", "//b/x", "http://b/x", False),
        ("http://a/", "http://a:81/", "http://a:81/", False),
        ("http://a:8080/", "https://a/", "https://a/", False),
        ("http://a/", "/x y", "http://a/x%20y", True),
    ],
)
def test_where_redirects_lead(here: str, location: str, there: str, is_same: bool) -> None:
    assert next_address(here, location) == (there, is_same)


def test_an_address_has_a_host_and_a_port() -> None:
    assert origin_of("https://Ex.org/").port == 443
    with pytest.raises(BadAddress):
        origin_of("http://a:x/")


@pytest.mark.parametrize(
    ("page", "shown"),
    [
        ("<h2>A</h2><p>b <b>c</b>\n d<br>e", "## A\n\nb **c** d\ne"),
        ("<ul><li>a<ul><li>b</ul><li>c</ul><p>d", "- a\n  - b\n- c\n\nd"),
        ("<ol><li>a<li><p>b</p></ol>", "1. a\n2. b"),
        ("<pre><code>x\n  y &lt;\n</code></pre>", "```\nx\n  y <\n```"),
        ("use <code>a  b</code>", "use `a b`"),
        ("<blockquote>a<p>b</blockquote>c", "> a\n>\n> b\n\nc"),
        ("<table><tr><th>a<th>b<tr><td>1<td>2</table>", "| a | b\n| 1 | 2"),
        (
            "<a href='/x'>t</a> <a href='#y'>u</a> <a href='javascript:z'>v</a>",
            "[t](http://h/x) u v",
        ),
        ("<script>no</script><style>no</style><p>yes<img alt='cat'>", "yes[picture: cat]"),
        ("<title>T</title><h1>T</h1>x", "# T\n\nx"),
        ("a<hr>b", "a\n\n---\n\nb"),
        ("</div></ul></pre></blockquote></a>x", "x"),
        ("<a href='http://[bad'>t</a>", "t"),
    ],
)
def test_markdown_of_pages(page: str, shown: str) -> None:
    assert markdown(page, "http://h/") == shown

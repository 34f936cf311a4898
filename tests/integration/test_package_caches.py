"""Package caches in a sandbox: what is in the person's is there, and nothing is added to it."""

import json
import os
import shutil
import tarfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path

import pytest

from bwrap import needs_bwrap
from client_homes import bytes_below
from sandbox import Sandbox

pytestmark = needs_bwrap
LARGE = b"x" * 10_000


@pytest.fixture
def task(sandbox: Sandbox) -> Sandbox:
    sandbox.siding("task", "start", "cached")
    return sandbox


def home(task: Sandbox) -> Path:
    return Path(task.env["HOME"])


def write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def shell(task: Sandbox, script: str, *options: str) -> str:
    words = ["run", "--sandbox", *options, "--", "sh", "-c", script]
    return task.siding("-q", *words).stdout.decode()


def test_a_run_adds_to_a_cache_of_its_own(task: Sandbox) -> None:
    cache = home(task) / ".npm" / "_cacache"
    write(cache / "content-v2" / "aa" / "large", LARGE)
    write(cache / "content-v2" / "aa" / "small", b"small\n")
    write(cache / "index-v5" / "bb", LARGE)
    write(home(task) / ".npmrc", b"//registry.example.org/:_authToken=secret\n")
    write(home(task) / ".npm" / "_logs" / "log", b"secret\n")
    before = bytes_below(home(task))
    said = shell(
        task,
        "cd ~/.npm/_cacache && cat content-v2/aa/* | wc -c && echo more >>index-v5/bb && "
        "echo new >content-v2/aa/new && mv content-v2/aa/new content-v2/aa/large && "
        "cat content-v2/aa/large && find ~ -name '*secret*' -o -name .npmrc -o -name _logs; "
        "echo x >/run/siding/caches/npm/content-v2/aa/large || echo refused",
        *("--read", "npm"),
    )
    assert said.split() == [str(len(LARGE) + 6), "new", "refused"]
    assert bytes_below(home(task)) == before
    assert shell(task, "ls -A ~/.npm || echo none") == "none\n"
    assert list(Path(task.env["SIDING_HOME"]).rglob("caches/*")) == []


def test_it_is_said_by_settings_and_lies_where_the_program_is_told(task: Sandbox) -> None:
    settings = Path(task.env["SIDING_HOME"]) / "config.yaml"
    settings.write_text("sandbox: {mode: on, read: [pip, uv]}\n")
    elsewhere = home(task) / "elsewhere"
    write(elsewhere / "http-v2" / "aa", LARGE)
    task.env["PIP_CACHE_DIR"] = str(elsewhere)
    script = f'wc -c <{elsewhere}/http-v2/aa; touch {elsewhere}/new; echo "$UV_LINK_MODE"'
    assert shell(task, script).split() == [str(len(LARGE)), "copy"]
    settings.write_text("sandbox: {mode: on, read: [npx]}\n")
    done = task.siding("run", "--", "true", status=2)
    assert b"sandbox.read in " in done.stderr
    assert b"pip, uv, npm" in done.stderr


# Where each program's cache is, and where it is if its variables say something else.
PLACES = [
    ("pip", "", ".cache/pip"),
    ("pip", "XDG_CACHE_HOME=else", "else/pip"),
    ("uv", "UV_CACHE_DIR=else", "else"),
    ("npm", "npm_config_cache=else", "else/_cacache"),
    ("cargo", "", ".cargo/registry"),
    ("cargo", "CARGO_HOME=else", "else/registry"),
    ("go", "", "go/pkg/mod/cache/download"),
    ("go", "GOPATH=else:~/go", "else/pkg/mod/cache/download"),
    ("go", "GOMODCACHE=else", "else/cache/download"),
    ("maven", "", ".m2/repository"),
]


def test_each_is_shown_where_its_program_looks_and_nothing_beside_it(task: Sandbox) -> None:
    """And what is there can neither be changed nor added to."""
    for program, said, place in PLACES:
        variable, _, value = said.partition("=")
        there = value.replace("else", f"{home(task)}/else").replace("~", str(home(task)))
        cache = home(task) / place
        write(cache / "aa" / "large", LARGE)
        write(cache / "aa" / "small", b"small\n")
        write(cache.parent / "secret", b"secret\n")
        before = bytes_below(home(task))
        script = (
            f"cd {cache} && cat aa/* | wc -c && echo new >aa/small && echo new >added && "
            f"ls -A {cache.parent}; echo x >/run/siding/caches/{program}/aa/large || echo refused"
        )
        env = {variable: there} if variable else {}
        words = ["run", "--sandbox", "--read", program, "--", "sh", "-c", script]
        done = task.siding("-q", *words, env=env)
        assert done.stdout.decode().split() == [str(len(LARGE) + 6), cache.name, "refused"], said
        assert bytes_below(home(task)) == before
        shutil.rmtree(home(task) / place.split("/")[0])


class Registry:
    """A registry of npm packages on loopback, each with one file."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.asked.append(self.path)
                body = outer.answer(self.path)
                self.send_response(200)
                self.send_header("cache-control", "public, max-age=3600")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_words: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/"

    def answer(self, path: str) -> bytes:
        name = path.strip("/").split("/")[0]
        manifest = {"name": name, "version": "1.0.0"}
        if not path.endswith(".tgz"):
            dist = {"dist": {"tarball": f"{self.url}{name}/-/{name}.tgz"}}
            versions = {"1.0.0": {**manifest, **dist}}
            found = {"name": name, "dist-tags": {"latest": "1.0.0"}, "versions": versions}
            return json.dumps(found).encode()
        packed = BytesIO()
        with tarfile.open(fileobj=packed, mode="w:gz") as archive:
            files = {"package.json": json.dumps(manifest).encode(), "random": os.urandom(20_000)}
            for file, data in files.items():
                info = tarfile.TarInfo(f"package/{file}")
                info.size = len(data)
                archive.addfile(info, BytesIO(data))
        return packed.getvalue()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def registry() -> Iterator[Registry]:
    made = Registry()
    yield made
    made.close()


@pytest.mark.skipif(shutil.which("npm") is None, reason="no npm")
def test_npm_installs_what_is_there_and_what_is_not(task: Sandbox, registry: Registry) -> None:
    flags = f"--registry {registry.url} --no-audit --no-fund --no-update-notifier"
    task.siding("-q", "run", "--", "sh", "-c", f"npm install {flags} there")
    before = bytes_below(home(task))
    assert any("_cacache" in name for name in before)
    registry.asked.clear()
    script = f"rm -r node_modules; npm install {flags} --prefer-offline there missing"
    shell(task, f"{script} >&2; ls node_modules", "--read", "npm")
    assert sorted(registry.asked) == ["/missing", "/missing/-/missing.tgz"]
    installed = task.workspace() / "node_modules"
    assert sorted(path.name for path in installed.glob("[a-z]*")) == ["missing", "there"]
    assert bytes_below(home(task)) == before

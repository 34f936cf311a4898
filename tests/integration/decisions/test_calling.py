"""The person is called when something begins to wait: desktop, terminal, webhook, quiet hours."""

import json
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import time, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from time import monotonic, sleep

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox import SIDING, Sandbox
from siding.asking.notifications import Call, QuietHours, call_settings, desktop_command, sequence
from siding.asking.screens import OpenScreen, somebody_looks
from siding.ground.clock import SystemClock
from siding.ground.errors import UsageError
from siding.ground.storage.layout import Home
from terminal import Terminal

HOSTILE = "`id`; $(id)\x1b]0;x\x07 --urgency=critical"
QUESTION = json.dumps(
    {"task": "t", "source": "s", "items": [{"id": 1, "title": HOSTILE, "kind": "text"}]}
)
SAID = ("--app-name=Siding", "--print-id", "--")
CALM = "`id`; $(id) ]0;x --urgency=critical"  # without what a terminal would obey


@pytest.fixture
def asker(sandbox: Sandbox) -> Sandbox:
    """A project, with a desktop that writes down what it is told."""
    sandbox.siding("init")
    tools = sandbox.directory / "tools"
    tools.mkdir()
    notify = tools / "notify-send"
    notify.write_text(f'#!/bin/sh\nprintf "%s|" "$@" >>{sandbox.directory}/shown\n')
    notify.chmod(0o755)
    sandbox.env |= {"PATH": f"{tools}:{sandbox.env['PATH']}", "DISPLAY": ":99"}
    return sandbox


def wishes(sandbox: Sandbox, **call: str) -> None:
    (sandbox.directory / "siding" / "config.yaml").write_text(json.dumps({"call": call}))


def shown(sandbox: Sandbox) -> list[str]:
    path = sandbox.directory / "shown"
    return path.read_text().split("|")[:-1] if path.exists() else []


def test_the_desktop_shows_a_question_once(asker: Sandbox) -> None:
    for _ in range(2):
        asker.siding("decide", QUESTION, "--no-wait")
    assert shown(asker) == [*SAID, "Siding: repo asks you", CALM]


def test_what_has_ended_is_told_after_a_while_if_it_waits_still(asker: Sandbox) -> None:
    """Called at once it would be called twice: whoever stands beside it goes on by themselves."""
    wishes(asker, after="1s")
    for mended in (True, False):
        asker.siding("run", "--", "sh", "-c", "exit 3", status=3)
        assert shown(asker) == []
        if mended:
            asker.siding("run", "--", "true")
        until(lambda: not notices(asker))
    assert shown(asker) == [*SAID, "Siding: sh: exit 3 failed", "exit 3: sh -c 'exit 3'"]


def test_where_nobody_can_be_told_a_failed_run_leaves_no_process(asker: Sandbox) -> None:
    del asker.env["DISPLAY"]
    words = (*SIDING, "run", "--", "sh", "-c", "exit 3")
    done = subprocess.run(
        words,
        cwd=asker.repo,
        env=dict(asker.env),
        start_new_session=True,
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 3
    assert notices(asker) == []


def test_nobody_is_told_what_a_screen_shows(asker: Sandbox) -> None:
    home = Home(asker.directory / "siding")
    for eyes, told in ((True, 0), (False, 1), (None, 2)):
        with OpenScreen(home) as screen:
            screen.has_eyes(eyes)
            asker.siding("decide", QUESTION, "--key", f"k{told}", "--no-wait")
        assert shown(asker).count(CALM) == told
    (home.screens_dir / "dead").write_bytes(b"here\n")  # of a screen that was killed
    assert not somebody_looks(home)
    with OpenScreen(home):
        assert len(list(home.screens_dir.iterdir())) == 1


def test_what_is_answered_goes_from_the_desktop(asker: Sandbox) -> None:
    tools = asker.directory / "tools"
    notify = tools / "notify-send"
    notify.write_text(f"{notify.read_text()}echo 77\n")
    (tools / "gdbus").write_text(f'#!/bin/sh\necho "$@" >>{asker.directory}/closed\n')
    (tools / "gdbus").chmod(0o755)
    asker.siding("decide", QUESTION, "--no-wait")
    assert len(list((asker.directory / "siding" / "told").iterdir())) == 1
    (session,) = [each["session_id"] for each in asker.json("decide", "list", "--json")]
    asker.siding("decide", "cancel", session)
    assert (asker.directory / "closed").read_text().strip().endswith("CloseNotification 77")
    assert list((asker.directory / "siding" / "told").iterdir()) == []


def until(is_so: Callable[[], bool], seconds: float = 60) -> None:
    end = monotonic() + seconds
    while not is_so():
        assert monotonic() < end, "it did not come to pass"
        sleep(0.05)


def notices(sandbox: Sandbox) -> list[str]:
    """Return the processes that wait to tell something of this home."""
    found = []
    for each in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if b"__notice" in (each / "cmdline").read_bytes():
                environment = (each / "environ").read_bytes()
                if bytes(sandbox.directory) in environment:
                    found.append(each.name)
    return found


@pytest.mark.parametrize("words", [("decide", QUESTION, "--no-wait")])
def test_without_a_desktop_nothing_is_tried(asker: Sandbox, words: tuple[str, ...]) -> None:
    del asker.env["DISPLAY"]
    assert b"call" not in asker.siding(*words).stderr
    assert shown(asker) == []
    asker.env["DISPLAY"] = ":99"
    wishes(asker, desktop="off")
    asker.siding("decide", QUESTION, "--key", "again", "--no-wait")
    assert shown(asker) == []


def test_a_desktop_that_fails_is_named_and_stops_nothing(asker: Sandbox) -> None:
    (asker.directory / "tools" / "notify-send").write_text("#!/bin/sh\necho broken >&2; exit 3\n")
    done = asker.siding("decide", QUESTION, "--no-wait")
    assert b"call.desktop" in done.stderr
    assert b"broken" in done.stderr


@pytest.mark.parametrize("way", ["bell", "osc9", "osc777", "off"])
def test_the_terminal_calls(asker: Sandbox, way: str) -> None:
    wishes(asker, terminal=way)
    words = [*SIDING, "decide", QUESTION, "--no-wait"]
    terminal = Terminal(words, cwd=asker.repo, env=asker.env)
    assert terminal.finish() == 0
    seen = terminal.seen
    text = f"Siding: repo asks you{': ' if way == 'osc9' else ';'}{CALM.replace(';', ',')}\x07"
    told = {"bell": b"\x07", "osc9": f"\x1b]9;{text}".encode()}
    wanted = told.get(way, f"\x1b]777;notify;{text}".encode())
    assert (wanted in seen) == (way != "off")
    assert b"\x1b]0;x" not in seen


class Hook(BaseHTTPRequestHandler):
    """Keeps what is posted."""

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        self.server.posted.append(json.loads(self.rfile.read(length)))  # type: ignore[attr-defined]
        self.send_response(self.server.status)  # type: ignore[attr-defined]
        self.end_headers()

    def log_message(self, *_said: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[HTTPServer]:
    with HTTPServer(("127.0.0.1", 0), Hook) as found:
        found.posted = []  # type: ignore[attr-defined]
        found.status = 204  # type: ignore[attr-defined]
        thread = threading.Thread(target=found.serve_forever)
        thread.start()
        yield found
        found.shutdown()
        thread.join()


def test_a_webhook_gets_what_waits(asker: Sandbox, server: HTTPServer) -> None:
    wishes(asker, webhook=f"http://127.0.0.1:{server.server_port}/hook", desktop="off")
    asker.siding("decide", QUESTION, "--no-wait")
    (posted,) = server.posted  # type: ignore[attr-defined]
    assert (posted["waits"], posted["title"]) == ("decision", CALM)
    assert posted["command"].startswith("siding decide answer")
    server.status = 500  # type: ignore[attr-defined]
    done = asker.siding("decide", QUESTION, "--key", "k", "--no-wait")
    assert b"call.webhook" in done.stderr


def test_nobody_is_called_in_quiet_hours(asker: Sandbox) -> None:
    now = SystemClock().now().astimezone()
    begin, end = (now + timedelta(hours=hours) for hours in (-1, 1))
    wishes(asker, quiet=f"{begin:%H:%M}-{end:%H:%M}")
    asker.siding("decide", QUESTION, "--no-wait")
    assert shown(asker) == []
    assert asker.json("inbox", "--json"), "it waits all the same"
    wishes(asker, quiet=f"{end:%H:%M}-{begin:%H:%M}")
    asker.siding("decide", QUESTION, "--key", "k", "--no-wait")
    assert shown(asker)


def test_a_repository_cannot_have_a_person_called(asker: Sandbox, server: HTTPServer) -> None:
    (asker.repo / ".siding").mkdir()
    settings = {"call": {"webhook": f"http://127.0.0.1:{server.server_port}/"}}
    (asker.repo / ".siding" / "config.yaml").write_text(json.dumps(settings))
    asker.siding("-q", "trust", status=None)
    asker.siding("decide", QUESTION, "--no-wait")
    assert server.posted == []  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        ({"desktop": "maybe"}, "call.desktop"),
        ({"terminal": "beep"}, "call.terminal"),
        ({"webhook": "file:///etc/passwd"}, "http address"),
        ({"quiet": "late"}, "22:00-07:30"),
        ({"quiet": "22-25:00"}, "22:00-07:30"),
    ],
)
def test_a_wrong_wish_is_named(asker: Sandbox, wish: dict[str, str], said: str) -> None:
    wishes(asker, **wish)
    done = asker.siding("decide", QUESTION, "--no-wait")
    assert said.encode() in done.stderr
    with pytest.raises(UsageError):
        call_settings(asker.directory / "siding" / "config.yaml")


def test_a_project_may_differ_from_the_home(tmp_path: Path) -> None:
    home, project = tmp_path / "home.yaml", tmp_path / "project.yaml"
    home.write_text("call: {quiet: '22:00-7:30', terminal: osc9}")
    project.write_text("call: {quiet: '', desktop: off}")
    assert call_settings(home).quiet == QuietHours(time(22), time(7, 30))
    assert call_settings(home, project)[:4] == ("off", "osc9", "", None)


@given(st.times(), st.times(), st.times())
def test_hours_are_quiet_or_their_rest_is(begin: time, end: time, now: time) -> None:
    if begin != end:
        assert QuietHours(begin, end).has(now) != QuietHours(end, begin).has(now)
    assert not QuietHours(begin, begin).has(now)


@given(st.text(), st.text())
def test_what_is_said_ends_no_sequence_early(title: str, text: str) -> None:
    plain = [" ".join(filter(str.isprintable, each)) for each in (title, text)]
    call = Call(plain[0], plain[1], {})
    for way in ("osc9", "osc777"):
        found = sequence(way, call, {})
        assert found.count(b"\x07") == 1
        assert found.count(b"\x1b") == 1
    assert sequence("osc777", call, {}).count(b";") == 3


def test_a_multiplexer_passes_on_what_is_wrapped_and_the_bell() -> None:
    call = Call("a;b", "c", {})
    for env, said in (
        ({"TMUX": "x"}, b"\x1bPtmux;\x1b\x1b]777;notify;a,b;c\x07\x1b\\"),
        ({"STY": "x"}, b"\x1bP\x1b]777;notify;a,b;c\x07\x1b\\"),
        ({}, b"\x1b]777;notify;a,b;c\x07"),
    ):
        assert sequence("osc777", call, env) == said
        assert sequence("bell", call, env) == b"\x07"


def test_on_a_mac_texts_are_arguments_too() -> None:
    command = desktop_command("darwin", Call('a" & (do shell script "id")', "--x", {}))
    assert command[-2:] == ('a" & (do shell script "id")', "--x")
    assert "do shell script" not in command[2]

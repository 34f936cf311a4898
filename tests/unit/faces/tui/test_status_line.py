"""The status line on the screen: real commands, what they print, and how they are ended."""

import asyncio
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from integration.undo.desk import Desk
from sandbox import Sandbox
from siding import __version__
from siding.faces.tui.app import Options, SidingApp
from siding.faces.tui.places.task.place import TaskPlace
from siding.faces.tui.rows.styles import PLAIN_LOOK, Look, Palette
from siding.feed.addresses import Address
from siding.feed.model import State
from siding.guard.hooks import repository_hooks, trust
from siding.record.place.wiring import open_app
from unit.faces.tui.apps import GivenSource, SomePlace, checked, feed, row, screen_text
from unit.statusline.test_gathering import tell

WIDTHS = (60, 80, 100, 200, 300)
LOOKS = (
    Look(Palette.DARK),
    Look(Palette.SIXTEEN),
    Look(Palette.NONE),
    Look(Palette.NONE, is_ascii=True),
)


def _home(tmp_path: Path, command: str, **more: object) -> Path:
    home = tmp_path / "home"
    home.mkdir(exist_ok=True)
    said = {"status_line": {"command": command, **more}}
    (home / "config.yaml").write_text(json.dumps(said))
    return home


def _app(home: Path, source: GivenSource | None = None, look: Look = PLAIN_LOOK) -> SidingApp:
    env = {"SIDING_HOME": str(home), "PATH": os.environ["PATH"], "HOME": str(home)}
    siding = open_app(env=env, cwd=home)
    return SidingApp(
        siding,
        begin=SomePlace,
        source=None if source is None else lambda: source,
        options=Options(look=look),
    )


async def _until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not is_so():
            await asyncio.sleep(0.02)


async def _made_anew(app: SidingApp) -> None:
    before = app.line._run
    app.line.happened()
    await _until(lambda: app.line._run is not before)
    await _until(lambda: app.line._run is not None and app.line._run.done())


def _last(app: SidingApp) -> str:
    return screen_text(app)[-1]


def test_a_command_draws_the_line_and_the_state_of_everything_is_beside(tmp_path: Path) -> None:
    source = GivenSource()
    script = tmp_path / "line.py"
    script.write_text(
        "import json, sys\nsaid = json.load(sys.stdin)\n"
        "print(said['version'], 'in', said['workspace']['current_dir'])\n"
    )
    home = _home(tmp_path, f"{sys.executable} {script}")

    async def go() -> None:
        app = _app(home, source)
        async with app.run_test(size=(100, 12)) as pilot:
            source.given.put(feed(row("a")))
            await _until(lambda: bool(app.feed.rows) and " in " in _last(app))
            await pilot.pause()
            assert _last(app).startswith(f"{__version__} in {home}"[:60])
            assert _last(app).endswith(" 1 run")

    asyncio.run(go())


def test_colours_are_kept_and_everything_else_is_inert(tmp_path: Path) -> None:
    script = tmp_path / "line.py"
    script.write_text(
        "print('\\x1b[31mred\\x1b[0m \\x1b]8;;https://evil.example\\x07link\\x1b]8;;\\x07'"
        " ' \\x1b[2J\\x1b]0;title\\x07 \\u202eleft')\n"
    )
    home = _home(tmp_path, f"{sys.executable} {script}")

    async def go() -> None:
        app = _app(home)
        async with app.run_test(size=(100, 12)):
            await _until(lambda: "red" in _last(app))
            assert _last(app).startswith("red link  \\u202eleft")
            strip = app.screen._compositor.render_strips()[-1]
            red = next(each for each in strip if each.text.startswith("red"))
            assert red.style is not None
            assert red.style.color is not None
            assert red.style.color.number == 1
            assert all(each.style is None or not each.style.link for each in strip)

    asyncio.run(go())


def test_lines_and_padding_and_what_is_too_much(tmp_path: Path) -> None:
    home = _home(tmp_path, "printf 'one\\n\\n  two \\nthree\\nfour\\n'", padding=2)

    async def go() -> None:
        app = _app(home)
        async with app.run_test(size=(60, 12)):
            await _until(lambda: "three" in _last(app))
            lines = screen_text(app)
            assert lines[-3:-1] == ["  one", "  two"]
            assert lines[-1].startswith("  three")
            assert "four" not in "\n".join(lines)
            assert lines[-4].startswith("n next")

    asyncio.run(go())


@pytest.mark.parametrize("look", LOOKS, ids=lambda look: f"{look.palette}-{look.is_ascii}")
def test_every_width_and_look(tmp_path: Path, look: Look) -> None:
    source = GivenSource()
    text = "漢字 \\033[32mgreen\\033[0m שלום " + "long " * 70
    home = _home(tmp_path, f"printf '{text}'")

    async def go() -> None:
        app = _app(home, source, look)
        async with app.run_test(size=(WIDTHS[0], 12)) as pilot:
            source.given.put(feed(row("a")))
            await _until(lambda: bool(app.feed.rows) and "green" in _last(app))
            for width in WIDTHS:
                await pilot.resize_terminal(width, 12)
                await pilot.pause()
                lines = checked(app, width)
                assert "green" in lines[-1]

    asyncio.run(go())


def test_a_command_that_fails_keeps_the_last_line_and_is_said(tmp_path: Path) -> None:
    switch = tmp_path / "fails"
    home = _home(tmp_path, f"test -e {switch} && echo bad >&2 && echo no && exit 3; echo good")

    async def go() -> None:
        app = _app(home)
        async with app.run_test(size=(100, 12)):
            await _until(lambda: "good" in _last(app))
            switch.touch()
            app.line.happened()
            place = app.place
            assert place is not None
            await _until(lambda: "exit 3: bad" in place.foot.said)
            assert "siding statusline" in place.foot.said
            assert _last(app).startswith("good")

    asyncio.run(go())


def test_of_a_place_that_is_not_there_it_says_nothing(tmp_path: Path) -> None:
    """The place says it itself, and what a person was told stays on the screen."""
    source = GivenSource()
    app = SidingApp(
        open_app(env={"SIDING_HOME": str(tmp_path)}, cwd=tmp_path),
        begin=lambda: TaskPlace(Address("p", "x")),
        source=lambda: source,
        options=Options(look=PLAIN_LOOK),
    )
    said: list[str] = []

    async def go() -> None:
        async with app.run_test(size=(100, 20)):
            app.line._warn = said.append
            source.given.put(feed(row("x", State.RUNS)))
            await _until(lambda: app.line._place.task == "x")
            for _ in range(3):
                await _made_anew(app)
            assert said == []

    asyncio.run(go())


def test_another_command_in_the_settings_counts_at_once(tmp_path: Path) -> None:
    home = _home(tmp_path, "echo one")

    async def go() -> None:
        app = _app(home)
        async with app.run_test(size=(60, 12)):
            await _until(lambda: _last(app).startswith("one"))
            _home(tmp_path, "echo another")
            app.line.look_for_changes()
            await _until(lambda: _last(app).startswith("another"))
            (home / "config.yaml").write_text("status_line: {command: 7}")
            app.line.look_for_changes()
            place = app.place
            assert place is not None
            await _until(lambda: "should be a line of shell" in place.foot.said)

    asyncio.run(go())


def test_what_is_ended_is_ended_with_its_tree(tmp_path: Path) -> None:
    """Also what has left the session and its parent."""
    pids = tmp_path / "pids"
    deep = f"setsid sh -c 'echo $$ >>{pids}; sleep 600' & echo $$ >>{pids}; sleep 600"
    home = _home(tmp_path, deep)

    def alive(pid: int) -> bool:
        try:
            return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
        except OSError:
            return False

    def written() -> list[int]:
        return [int(each) for each in pids.read_text().split()] if pids.exists() else []

    async def go() -> None:
        app = _app(home)
        async with app.run_test(size=(60, 12)):
            await _until(lambda: len(written()) == 2)
            first = written()
            assert all(map(alive, first))
            app.line.happened()
            await _until(lambda: len(written()) >= 4 and not any(map(alive, first)))
        assert not any(map(alive, written()))

    asyncio.run(go())


def test_a_tick_makes_the_line_anew(tmp_path: Path) -> None:
    count = tmp_path / "count"
    home = _home(tmp_path, f"echo x >>{count}; wc -l <{count}", refresh="1s")

    async def go() -> None:
        app = _app(home)
        async with app.run_test(size=(60, 12)):
            await _until(lambda: _last(app).startswith("2"))

    asyncio.run(go())


def _at_task(desk: Desk) -> SidingApp:
    place = SomePlace(Address(desk.project.layout.root.name, str(desk.task.id)))
    siding = open_app(env=desk.sandbox.env, cwd=desk.sandbox.repo)
    return SidingApp(siding, begin=lambda: place)


def test_without_a_command_a_task_has_its_conversation(sandbox: Sandbox) -> None:
    desk = Desk(sandbox)
    tell(desk)

    async def go() -> None:
        app = _at_task(desk)
        async with app.run_test(size=(100, 12)):
            await _until(lambda: "m-2" in _last(app))
            assert _last(app).startswith("m-2 │ Context 12% (24k/200k) │ Cache 92% │ $0.42 │")

    asyncio.run(go())


def test_a_command_of_the_repository_is_not_run_and_that_is_said(sandbox: Sandbox) -> None:
    desk = Desk(sandbox)
    ran = sandbox.repo.parent / "ran"
    settings = sandbox.repo / ".siding" / "config.yaml"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text(json.dumps({"status_line": {"command": f"touch {ran}; echo theirs"}}))

    async def go() -> None:
        app = _at_task(desk)
        async with app.run_test(size=(120, 12)):
            place = app.place
            assert place is not None
            await _until(lambda: "`siding trust`" in place.foot.said)
            assert not ran.exists()
            trust(desk.project, repository_hooks(desk.project))
            app.line.look_for_changes()
            await _until(lambda: _last(app).startswith("theirs"))
            assert ran.exists()

    asyncio.run(go())

"""A writer beside an act that moves files loses nothing, whenever it saves and however."""

import fcntl
import os
import signal
import sys
from pathlib import Path

import pytest

from .aimed import aim, holds
from .aimed_acts import GIT_NAMES, NAMES, acts, git_acts, toy_act
from .arena import Arena, GateFailed, in_workers
from .commands import GATE
from .tokens import lost
from .tracer import RUN, Ending, Tracer
from .writers import Saved, Way, Writer

pytestmark = GATE

BUDGET = int(os.environ.get("SIDING_FAULTS_BUDGET", "2"))


@pytest.mark.timeout(7200)  # of each act there are a few thousand cases
@pytest.mark.parametrize("name", NAMES)
def test_no_byte_of_a_writer_is_lost(name: str) -> None:
    holds(name, aim(name, acts()[name], budget=BUDGET))


# The gate itself.


@pytest.mark.parametrize("name", GIT_NAMES)
def test_what_git_overwrites_is_seen(name: str) -> None:
    """The planted mistake is git's own command, and the comparison that people ask for."""
    with pytest.raises(GateFailed):
        holds(name, aim(name, git_acts()[name], budget=4 * BUDGET, by_git=True))


def test_an_act_that_exchanges_files_passes() -> None:
    holds("exchange", aim("exchange", toy_act(), budget=4 * BUDGET, by_git=True))


def test_bytes_of_which_no_word_is_said_are_lost(tmp_path: Path) -> None:
    root, place = tmp_path / "repo", tmp_path / "trash/there"
    root.mkdir()
    place.mkdir(parents=True)
    (place / "file").write_text("a token")

    def verdict(told: str) -> str | None:
        return lost(tmp_path, root / "file", root, "token", told)

    assert verdict(f"moved to {place}\n") is None
    assert verdict(f"kept: {place}/file.") is None
    assert verdict("kept: trash/there/file") is None
    for silent in ("", f"{tmp_path}\n", f"moved to {place}/other", f"moved to {place}-2"):
        assert verdict(silent) == "only in trash/there/file, of which no word was said"
    (place / "file").write_text("something else")
    assert verdict(f"moved to {place}\n") == "nowhere"
    (root / "file").write_text("token")
    assert verdict("") is None


@pytest.mark.parametrize("way", Way)
def test_each_way_of_saving_saves(way: Way, tmp_path: Path) -> None:
    path = tmp_path / "file"
    if way is not Way.CREATE:
        path.write_text("longer than a token")
    inode = None if way is Way.CREATE else path.stat().st_ino
    writer = Writer(way, path, b"<token>", {})
    writer.save()
    assert writer.end() is Saved.DONE
    assert b"<token>" in path.read_bytes()
    assert [each.name for each in tmp_path.iterdir()] == ["file"]
    assert (path.stat().st_ino == inode) == (way in (Way.APPEND, Way.REWRITE, Way.MAP))


def test_nobody_waits_for_a_writer_that_waits_for_a_lease(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    old = signal.signal(signal.SIGIO, signal.SIG_IGN)  # the kernel says so that the lease breaks
    try:
        with open(path, "rb") as held:
            writer = Writer(Way.REWRITE, path, b"<token>", {})
            fcntl.fcntl(held, fcntl.F_SETLEASE, fcntl.F_RDLCK)
            writer.save()
            assert path.read_text() == "old"
            fcntl.fcntl(held, fcntl.F_SETLEASE, fcntl.F_UNLCK)
            assert writer.end() is Saved.DONE
    finally:
        signal.signal(signal.SIGIO, old)
    assert path.read_text() == "<token>"


@pytest.mark.timeout(60)
def test_a_trace_ends_beside_a_child_that_does_not(tmp_path: Path) -> None:
    """A short child may end before the tracer has read that it was born by vfork."""
    program = (
        "import os\n"
        "for _ in range(120): os.waitpid(os.posix_spawnp('true', ['true'], os.environ), 0)"
    )
    script = 'cd "$0"; "$1" -I -S -c "$2"; true'
    victim = ["sh", "-c", script, str(tmp_path), sys.executable, program]

    def work(_arena: Arena, _number: int, _count: int) -> Ending:
        writer = Writer(Way.CREATE, tmp_path / "file", b"<token>", {})
        ending = Tracer([], lambda _call: RUN).run(
            victim, cwd="/", env=os.environ, stdout=1, stderr=2, timeout_s=20
        )
        writer.save()
        assert writer.end() is Saved.DONE
        return ending

    assert in_workers(work, workers=1) == [Ending(status=0, timed_out=False)]

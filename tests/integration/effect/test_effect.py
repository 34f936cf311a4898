"""What a command would do is shown to the person who is asked; the workspace is not touched."""

import json
import os
import signal
import subprocess
import threading
import time
from functools import partial
from pathlib import Path

import pytest

from bwrap import needs_bwrap
from sandbox import SIDING, alive
from siding.effect import copying, trial
from siding.effect.ask import begin
from siding.effect.count import Asked, NotWanted, Wanted
from siding.effect.effect import EffectState
from siding.effect.store import effect_of

from ..broker.inside import until
from ..escapes.world import without_bwrap
from .bench import Bench, Question, digests

pytestmark = needs_bwrap


@pytest.fixture
def bench() -> Bench:
    return Bench()


def children(pid: int) -> list[int]:
    """Return a process and all that it has started."""
    found, left = [], [pid]
    while left:
        each = left.pop()
        found.append(each)
        for task in Path(f"/proc/{each}/task").glob("*/children"):
            left += map(int, task.read_text().split())
    return found


def words_of(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def counter_of(question: Question) -> int:
    """Return the process that tries the command, once the command runs in it."""

    def found() -> list[int]:
        everything = children(question.run.pid)
        tried = any(b"sleep\x0099" in words_of(pid) for pid in everything)
        return [pid for pid in everything if b"__effect" in words_of(pid)] if tried else []

    until(found)
    return found()[0]


def test_ignored_files_are_listed_and_nothing_outside_the_copy_changes(bench: Bench) -> None:
    bench.sandbox.siding("status")
    git_dir = Path(bench.sandbox.git("rev-parse", "--absolute-git-dir", cwd=bench.root))
    outside = (bench.root, git_dir, bench.sandbox.repo, Path(bench.sandbox.env["HOME"]))
    with bench.asking("rm -rf build/ && echo b >>hello.txt && sed -i s/a/b/ src/a.py") as question:
        before = digests(*outside)
        found = question.known()
        assert digests(*outside) == before
        assert (bench.root / "build/d0/0.o").read_text() == "0\n"
        shown = bench.sandbox.siding("decide", "show").stdout.decode()
        patch = bench.sandbox.siding("decide", "effect").stdout.decode()
        inbox = bench.sandbox.siding("inbox").stdout.decode()
        assert question.answer("run")[0][0] == 0
    assert (found["state"], found["why"], found["exit_code"]) == ("tried", "", 0)
    assert (found["files"], found["deleted"]) == (32, 30)
    assert (found["additions"], found["deletions"]) == (2, 31)
    assert found["summary"] == "deletes 30 files: build/; changes 2 files"
    assert found["touched"][0] == {
        "path": "build/d0/0.o",
        "how": "deleted",
        "additions": 0,
        "deletions": 1,
    }
    assert "effect: deletes 30 files: build/" in shown
    assert "  - build/d0/0.o" in shown
    assert "and 12 more" in shown
    assert "deletes 30 files: build/" in inbox
    assert "diff --git a/src/a.py b/src/a.py" in patch
    assert "-a = 1\n+b = 1\n" in patch
    assert Path(found["patch"]).read_text() in patch
    assert not bench.trials.exists()
    kept = bench.sandbox.siding("decide", "show", question.session).stdout.decode()
    assert "deletes 30 files" in kept, "what was consented to stays"


@pytest.mark.parametrize(
    ("command", "summary"),
    [
        ("rm {root}/hello.txt", "deletes 1 file: hello.txt"),
        ("touch hello.txt", "changes no file of the workspace"),
        ("chmod +x hello.txt; chmod 000 src/a.py src", "changes 2 files"),
        ("sleep 0.3 && rm hello.txt &", "deletes 1 file: hello.txt"),
        ("find . -name '*.o' | xargs rm", "deletes 30 files: build/d0/0.o, build/d0/12.o"),
        ("git clean -fdxq", "deletes 30 files: build/"),
        ("git rm -rq src && echo new >src", "deletes 1 file: src/; adds 1 file"),
        ("for f in *.txt; do mv $f $f.old; done", "deletes 1 file: hello.txt; adds 1 file"),
    ],
)
def test_the_effect_is_that_of_the_command(bench: Bench, command: str, summary: str) -> None:
    before = digests(bench.root)
    found = bench.counted(command.format(root=bench.root))
    assert (found.state, found.exit_code) == (EffectState.TRIED, 0)
    assert found.summary.startswith(summary)
    assert digests(bench.root) == before


def test_what_reaches_out_is_not_tried(bench: Bench) -> None:
    """That is said at once: nothing is copied, and no process is started for it."""
    told = {
        "curl https://example.org": "curl may reach more",
        "rm -rf build && git push": "git push may reach more",
        "npm install": "npm may reach more",
        "python -c 'import socket'": "python may reach more",
        "./clean.sh": "./clean.sh may reach more",
        "frobnicate build": "a program the policy does not know",
        "rm -rf $UNSET/": "known only when it runs",
        "cp /tmp/x hello.txt": "which the sandbox hides",
    }
    project = bench.project()
    task = bench.workspace(project).task_id
    for number, (command, why) in enumerate(told.items()):
        session = f"s-{number}"
        assert begin(project, task, Asked(session, command, bench.root)) is None
        found = effect_of(project, session)
        assert found is not None
        assert found.state is EffectState.NOT_TRIED, command
        assert why in found.why
        assert found.summary == f"not tried: {found.why}"
        assert not bench.trials.exists()


def test_an_agent_that_asks_what_reaches_out_is_told_of_at_once(bench: Bench) -> None:
    with bench.asking("curl https://example.org") as question:
        found = question.effect()
        assert (found["state"], found["exit_code"]) == ("not tried", None)
        assert "curl may reach more" in found["why"]
        question.answer("refuse")


def test_without_a_sandbox_that_mounts_it_says_so(bench: Bench) -> None:
    bench.sandbox.env |= without_bwrap(bench.sandbox.directory, bench.sandbox.env["PATH"])
    found = bench.counted("rm -rf build/")
    assert found.state is EffectState.NOT_TRIED
    assert "bwrap" in found.why


def test_a_failure_and_what_is_outside_are_said(bench: Bench) -> None:
    found = bench.counted("rm hello.txt; echo x >/tmp/out-of-sight; cat nothing-of-the-kind")
    assert found.summary == "deletes 1 file: hello.txt"
    assert found.exit_code == 1
    assert "exit status 1" in found.why
    assert "nothing-of-the-kind" in found.why
    assert found.notes == ("not shown: /tmp/out-of-sight, which lies outside the workspace",)
    assert not Path("/tmp/out-of-sight").exists()


def test_secrets_are_masked(bench: Bench) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    with bench.asking(f"echo {token} >>hello.txt") as question:
        found = question.known()
        kept = [each.read_text() for each in bench.sandbox.project.glob("decisions/effects/*")]
        assert len(kept) == 2
        assert not any(token in each for each in kept)
        assert "[redacted:" in Path(found["patch"]).read_text()
        (bench.root / "hello.txt").write_text("moved\n")
        again = bench.sandbox.siding("decide", "effect", "--json").stdout
        assert json.loads(again)["state"] == "stale", "its secret is kept nowhere"


def test_a_stale_effect_is_said_to_be_and_counted_again_once(bench: Bench) -> None:
    with bench.asking("rm -rf build/") as question:
        first = question.known()
        (bench.root / "build/new.o").write_text("new\n")
        stale = question.effect()
        assert (stale["state"], stale["deleted"]) == ("stale", 30)
        shown = bench.sandbox.siding("decide", "show").stdout.decode()
        assert "the workspace has changed since" in shown
        words = [*SIDING, "decide", "effect", "--json"]
        two = [
            subprocess.Popen(
                words, cwd=bench.sandbox.repo, env=bench.sandbox.env, stdout=subprocess.PIPE
            )
            for _ in range(2)
        ]
        one, other = (json.loads(each.communicate(timeout=60)[0]) for each in two)
        assert one == other, "one of them has counted, and the other has taken that"
        assert (one["state"], one["deleted"]) == ("tried", 31)
        assert one["counted_from"] != first["counted_from"]
        assert question.effect()["state"] == "tried"
        question.answer("run")


class TestEnds:
    """However it ends, no copy and no process is left, and the question is not later for it."""

    def test_a_command_that_hangs(self, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(trial, "TIME_S", 1.5)
        found = bench.counted("rm hello.txt; sleep 99")
        assert found.summary == "deletes at least 1 file: hello.txt"
        assert "was ended after 1.5 s" in found.why
        assert not any(b"sleep\x0099" in words_of(pid) for pid in children(os.getpid()))
        assert not bench.trials.exists()

    def test_a_command_that_fills_the_disk(self, bench: Bench) -> None:
        found = bench.counted("dd if=/dev/zero of=big bs=1M count=3000")
        assert found.at_least
        assert "made the workspace grow" in found.why

    @pytest.mark.parametrize("whom", ["counter", "broker", "both"])
    def test_after_a_kill(self, bench: Bench, whom: str) -> None:
        with bench.asking("test -e again || sleep 99") as question:
            counter = counter_of(question)
            assert question.effect()["state"] == "pending"
            everything = children(counter)
            brokers = [p for p in children(question.run.pid) if b"__broker" in words_of(p)]
            assert bench.trials.exists()
            if whom != "counter":
                os.kill(brokers[0], signal.SIGKILL)
            if whom != "broker":
                os.kill(counter, signal.SIGKILL)
            until(lambda: not any(map(alive, everything)))
            if whom == "both":
                (bench.root / "again").touch()  # who asks tries it once more, to its own end
                assert bench.sandbox.siding("decide", "effect", status=None).returncode == 0
            until(lambda: not bench.trials.exists())

    @pytest.mark.parametrize("answer", ["run", "refuse"])
    def test_a_question_that_is_answered_meanwhile(self, bench: Bench, answer: str) -> None:
        with bench.asking("sleep 99") as question:
            everything = children(counter_of(question))
            began = time.monotonic()
            told = question.answer(answer)
            assert len(told) == 1
            assert time.monotonic() - began < 60
            until(lambda: not any(map(alive, everything)))
            until(lambda: not bench.trials.exists())
        assert not list(bench.sandbox.project.glob("decisions/effects/*"))


@pytest.mark.parametrize("how", ["answered", "left"])
def test_whoever_tries_is_told_that_nobody_waits_any_more(bench: Bench, how: str) -> None:
    """The limits would end the command later, too: so this looks at what ends it at once."""
    session, left = bench.question(), threading.Event()
    wanted = Wanted(bench.project(), session, left.is_set)
    ended = threading.Event()
    with wanted.watched():
        signal.signal(signal.SIGTERM, lambda *_: ended.set())
        wanted.check()
        if how == "left":
            left.set()
        else:
            bench.sandbox.siding("decide", "answer", session, "-c", "1=a")
        assert ended.wait(60), "it ends what runs by this signal"
        with pytest.raises(NotWanted):
            wanted.check()


def test_ignored_directories_that_are_too_large_are_seen_and_named(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "MOST_FILES", 200)
    monkeypatch.setattr(copying, "look", partial(copying.look, most=200))
    for number in range(201):
        (bench.root / "build" / f"{number}.o").touch()
    found = bench.counted("ls build >listed.log && rm hello.txt")
    assert found.state is EffectState.TRIED
    assert found.notes == ("seen read-only, too large to be copied: build",)
    assert found.summary == "deletes 1 file: hello.txt; adds 1 file"
    assert "+200.o" in Path(found.patch).read_text()
    gone = bench.counted("rm -rf build/")
    assert gone.state is EffectState.NOT_TRIED
    assert "build has at least 200 files, too many to copy" in gone.why


def test_it_can_be_switched_off(bench: Bench) -> None:
    settings = bench.sandbox.project / "config.yaml"
    settings.write_text("version: 1\nagents: {effect: false}\n")
    project, session = bench.project(), bench.question()
    task = bench.workspace(project).task_id
    assert begin(project, task, Asked(session, "rm -rf build/", bench.root)) is None
    assert effect_of(project, session) is None
    refused = bench.sandbox.siding("decide", "effect", status=None)
    assert b"has no effect" in refused.stderr

"""Plain mode at a terminal, over a real project: lines alone, typed lines, and nothing lost."""

import re
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from sandbox import Sandbox
from siding.asking.lookup import get
from siding.asking.question import ask, plain_question
from siding.guard.guard import Guard, guard
from siding.record.place.wiring import open_app
from terminal import Terminal

from ..effect.bench import Bench
from ..undo.desk import Desk


class Talk:
    """Somebody who types lines and hears all that was said since."""

    def __init__(self, sandbox: Sandbox) -> None:
        argv = [sys.executable, "-m", "siding", "--plain"]
        env = {**sandbox.env, "TERM": "dumb"}
        self.terminal = Terminal(argv, cwd=sandbox.repo, env=env)
        self._heard = 0

    def hears(self, until: str) -> str:
        """Return what is said until a text."""
        told = until.encode()
        self.terminal.wait_for(told, seconds=60, since=self._heard)
        at = self.terminal.seen.index(told, self._heard) + len(told)
        said, self._heard = self.terminal.seen[self._heard : at], at
        return said.decode()

    def types(self, line: str, until: str) -> str:
        """Type a line; return what is said until a text."""
        self.terminal.type(line.encode() + b"\n")
        return self.hears(until)


@contextmanager
def talking(sandbox: Sandbox) -> Iterator[Talk]:
    talk = Talk(sandbox)
    try:
        yield talk
    finally:
        talk.terminal.kill()
    is_plain(talk.terminal.seen)


def is_plain(seen: bytes) -> None:
    """Hold it to what a screen reader needs: no movement, no colours, nothing drawn again."""
    assert b"\x1b" not in seen, seen
    assert b"\b" not in seen
    assert not re.search(rb"\r(?!\n)", seen), seen
    assert seen.decode().replace("\r\n", "").isprintable()


def test_a_question_is_answered_and_an_act_is_done_and_undone_twice(desk: Desk) -> None:
    decision = ask(desk.project, plain_question("which way?", ["left", "right"])).decision
    with talking(desk.sandbox) as talk:
        first = talk.hears("choose> ")
        assert "first start: Agents found" in first
        assert "guard: agents can run in a sandbox" in first
        assert "1: question: which way?" in first
        said = talk.types("1", "question back> ")
        assert "1: left" in said
        assert "that is no answer; nothing was recorded" in talk.types("7", "choose> ")
        talk.types("1", "question back> ")
        assert "not answered; it still waits" in talk.types("b", "choose> ")
        talk.types("1", "question back> ")
        assert "answered: right" in talk.types("2", "choose> ")
        assert get(desk.project, decision.session_id).items[0].values == ("right",)
        (desk.root / "hello.txt").write_text("changed\n")
        assert "1: " in talk.types("a", "choose> ")
        assert talk.types("1", "work> ").count("step ") <= 5
        assert "+changed" in talk.types("p", "work> ")
        for act, mine in (("undo", b"changed\n"), ("redo", b"changed\n")):
            talk.types(act, "> ")
            talk.types("", "work> ")
            assert (desk.root / "hello.txt").read_bytes() == mine, "nobody typed the word again"
        here = desk.sandbox.repo / "hello.txt"
        before = here.read_bytes()
        for _ in range(2):
            talk.types("apply", "again to do it> ")
            assert "nothing was done" in talk.types("no", "work> ")
            assert here.read_bytes() == before
            talk.types("apply", "again to do it> ")
            assert "done: " in talk.types("apply", "work> ")
            assert here.read_bytes() == b"changed\n"
            for _back in range(2):  # the task was closed; then the apply itself
                talk.types("undo", "again to do it> ")
                assert "done: " in talk.types("undo", "work> ")
            assert here.read_bytes() == before
        assert (desk.root / "hello.txt").read_bytes() == b"changed\n"
        talk.types("q", "left; what runs goes on")
        assert talk.terminal.finish() == 0


def test_a_permission_is_given_after_its_patch_and_its_code() -> None:
    bench = Bench()
    guide = bench.root / "CLAUDE.md"
    guide.write_text("Be kind.\n")
    given = {"file_path": str(guide), "old_string": "kind", "new_string": "rude"}
    with bench.asking_for("Edit", given) as question, talking(bench.sandbox) as talk:
        question.known()
        talk.hears("choose> ")
        said = talk.types("n", "says the effect> ")
        assert "effect: changes 1 file (+1 -1)" in said
        assert "| -Be kind." in said
        assert "+Be rude." in talk.types("e", "says the effect> ")
        talk.types("1", "type the code ")
        code = talk.hears("> ").removesuffix("> ")
        wrong = "1111" if code != "1 1 1 1" else "2222"
        assert "another code; nothing was recorded" in talk.types(wrong, "choose> ")
        talk.types("n", "says the effect> ")
        talk.types("1", "type the code ")
        code = talk.hears("> ").removesuffix("> ")
        assert "answered: Let it" in talk.types(code, "choose> ")


def test_nothing_is_lost_by_what_is_no_answer(desk: Desk) -> None:
    ask(desk.project, plain_question("which way?", ["left", "right"]))
    with talking(desk.sandbox) as talk:
        talk.hears("choose> ")
        assert "nothing was typed; h is help" in talk.types("", "choose> ")
        assert "there is no choice 'frob" in talk.types("frob\x1b[A", "choose> ")
        assert "there is no choice '99'" in talk.types("99", "choose> ")
        talk.types("1", "question back> ")
        talk.terminal.type(b"\x03")
        assert "nothing was done" in talk.hears("choose> ")
        talk.terminal.type(b"\x03")
        assert "q leaves" in talk.hears("choose> ")
        assert "watching; Enter ends it" in talk.types("w", "ends it")
        assert "no longer watching" in talk.types("", "choose> ")
        assert "type on to turn it on" in talk.types("guard", "> ")
        assert "nothing was done" in talk.types("yes", "choose> ")
        talk.types("guard", "turn it on> ")
        assert "the guard is on" in talk.types("on", "choose> ")
        assert guard(open_app(env=desk.sandbox.env, cwd=desk.sandbox.repo)) is Guard.ON
        assert "guard: on" in talk.types("first", "choose> ")
        talk.types("new", "in which repository> ")
        talk.types("0", "parser'> ")
        assert "nothing was done" in talk.types("", "choose> ")
        talk.terminal.type(b"\x04")
        talk.hears("left; what runs goes on")
        assert talk.terminal.finish() == 0
    with talking(desk.sandbox) as talk:
        assert "first start" not in talk.hears("choose> ")
        talk.terminal.process.send_signal(signal.SIGHUP)
        talk.terminal.finish()


def test_all_lines_of_a_pipe_are_taken_and_half_a_line_is_not(desk: Desk) -> None:
    (desk.root / "hello.txt").write_text("changed\n")
    lines = b"w\n\na\n1\napply\nb\n1\nundo\n"
    done = desk.sandbox.siding("--plain", stdin=lines + b"undo", status=0)
    said = done.stdout.decode()
    assert "no longer watching" in said
    assert "the last line was not ended with Enter; nothing was done with it" in said
    assert said.endswith("left; what runs goes on\n")
    assert (desk.root / "hello.txt").read_text() == "changed\n"

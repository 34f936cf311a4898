"""After any walk and `gc --older`: what stays is bit-equal, what went says so, verify is green."""

import random
import time
from pathlib import Path
from typing import Any

import pytest

from sandbox import Sandbox

ACTS = ("edit", "edit", "edit", "by hand", "asked", "commit", "rollback", "undo", "redo", "apply")
ROUNDS, ACTS_A_ROUND = 2, 9


class Walk:
    """Random acts in two tasks, one of which starts from a state of the other."""

    def __init__(self, sandbox: Sandbox, seed: int) -> None:
        self.sandbox = sandbox
        self.chance = random.Random(seed)
        self.contents = [f"{number}\n" * (50 + number) for number in range(6)]
        sandbox.siding("-q", "task", "start", "one")
        self.edit("one")
        sandbox.siding("-q", "task", "start", "two", "--from", "one@1")

    def act(self) -> None:
        task = self.chance.choice(("one", "two"))
        match self.chance.choice(ACTS):
            case "edit":
                self.edit(task)
            case "by hand":
                self.write(task)
            case "asked":
                self.write(task)
                self.do("checkpoint", "-t", task, "-m", "asked")
            case "commit":
                script = "git add -A; git commit -qm made; true"
                self.do("run", "-t", task, "--", "sh", "-c", script)
            case "rollback":
                step = self.chance.choice(self.steps(task))["step_id"]
                self.do("rollback", "-t", task, "--force", "--step", step)
            case "apply":
                self.do("apply", task, "--no-close")
            case word:
                self.do(word, task, "--force")

    def do(self, *words: str) -> None:
        """Do it, or be refused: a walk need not lead anywhere."""
        done = self.sandbox.siding("-q", *words, status=None)
        assert b"Traceback" not in done.stderr, done.stderr
        assert b"damaged" not in done.stderr, done.stderr

    def edit(self, task: str) -> None:
        name, text = self.chance.choice("abcd"), self.chance.choice(self.contents)
        script = 'printf %s "$1" >"$2"'
        self.do("run", "-t", task, "--", "sh", "-c", script, "sh", text, name)

    def write(self, task: str) -> None:
        path = self.sandbox.workspace(task) / self.chance.choice("abcd")
        path.write_text(self.chance.choice(self.contents), encoding="utf-8")

    def steps(self, task: str) -> list[dict[str, Any]]:
        found = self.sandbox.json("log", "-t", task, "--limit", "0", "--format", "json")
        assert isinstance(found, list)
        return found

    def states(self, task: str) -> dict[str, str]:
        """All names and bytes of every state that was not freed, by step."""
        return {
            step["step_id"]: self.content(step["snapshot"])
            for step in self.steps(task)
            if "snapshot_freed" not in step
        }

    def content(self, snapshot: str) -> str:
        store = self.sandbox.project / "snapshots.git"
        git = f"--git-dir={store}"
        alternates = f"GIT_ALTERNATE_OBJECT_DIRECTORIES={self.sandbox.repo}/.git/objects"
        self.sandbox.env |= dict([alternates.split("=")])
        try:
            listed = self.sandbox.git(git, "ls-tree", "-r", snapshot)
            blobs = [line.split()[2] for line in listed.splitlines()]
            return listed + "".join(self.sandbox.git(git, "cat-file", "blob", b) for b in blobs)
        finally:
            del self.sandbox.env["GIT_ALTERNATE_OBJECT_DIRECTORIES"]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_what_stays_is_bit_equal_and_what_went_says_so(tmp_path: Path, seed: int) -> None:
    sandbox = Sandbox(tmp_path)
    walk = Walk(sandbox, seed)
    for number in range(ROUNDS):
        for _ in range(ACTS_A_ROUND):
            walk.act()
        if number == ROUNDS - 1 and walk.chance.random() < 0.7:
            walk.do("task", "close", "--force", "one")
        time.sleep(1.1)
        before = {task: walk.states(task) for task in ("one", "two")}
        report = sandbox.json("gc", "--older", "1s", "--yes", "--json")
        assert (report["snapshots"]["freed"] or {}).get("failed") is None, report
        for task in ("one", "two"):
            steps, after = walk.steps(task), walk.states(task)
            assert after.items() <= before[task].items()
            for step in steps:
                never = step is steps[-1] or step["kind"] == "apply"
                assert not (never and "snapshot_freed" in step), step
            assert b"is whole" in sandbox.siding("verify", task).stdout
            gone = [step["step_id"] for step in steps if step["step_id"] not in after]
            for step in gone[-2:]:
                done = sandbox.siding("diff", "-t", task, "--from", step, "--to", "last", status=1)
                assert b"was freed by `siding gc` on" in done.stderr
    assert any("snapshot_freed" in step for step in walk.steps("one") + walk.steps("two"))
    walk.do("task", "reopen", "one")
    for task in ("one", "two"):
        here = {p.name: p.read_bytes() for p in sandbox.workspace(task).glob("?")}
        newest = walk.steps(task)[-1]["step_id"]
        walk.do("run", "-t", task, "--", "sh", "-c", "rm -f a b c d")
        walk.do("rollback", "-t", task, "--force", "--step", newest)
        assert {p.name: p.read_bytes() for p in sandbox.workspace(task).glob("?")} == here

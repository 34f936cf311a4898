"""`siding status --short`: one line for a prompt, quickly, and nothing where there is no task."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from integration.test_many_runs import UNTIL_GO, living, wait_until
from sandbox import Sandbox


@pytest.fixture
def shop(sandbox: Sandbox) -> Sandbox:
    sandbox.siding("task", "start", "shop")
    return sandbox


def short(sandbox: Sandbox, *words: str) -> str:
    done = sandbox.siding("status", "--short", *words)
    assert done.stderr == b""
    return done.stdout.decode()


def change(sandbox: Sandbox, name: str) -> None:
    sandbox.siding("run", "--", "sh", "-c", f"echo x >>{name}")


def test_each_figure_is_there_while_it_is_not_nothing(shop: Sandbox) -> None:
    assert short(shop) == "shop\n"
    change(shop, "a")
    assert short(shop) == "shop +1\n"
    shop.siding("run", "--", "false", status=1)
    assert short(shop) == "shop !1 +1\n"
    change(shop, "b")
    items = '[{"id": 1, "title": "Which?", "kind": "text"}]'
    question = f'{{"task": "q", "source": "plan.md", "items": {items}}}'
    shop.siding("run", "--", "siding", "decide", question, "--no-wait")
    with living(shop, "--", "sh", "-c", f"touch began; {UNTIL_GO}"):
        wait_until(shop, "began")
        assert short(shop) == "shop r1 ?1 +2\n"
        assert shop.json("status", "--short", "--format", "json") == {
            "task": "shop",
            "runs": 1,
            "questions": 1,
            "broken": 0,
            "unapplied": 2,
        }
        (shop.workspace() / "go").touch()
    assert "\x1b[32m+3\x1b[0m" in short(shop, "--color=always")


def test_an_act_that_was_cut_off_is_broken(shop: Sandbox) -> None:
    with living(shop, "--", "sh", "-c", f"touch began; {UNTIL_GO}") as host:
        wait_until(shop, "began")
        host.kill()
        host.wait()
        assert short(shop) == "shop !1\n"
        (shop.workspace() / "go").touch()


def test_what_was_applied_or_left_behind_does_not_count(shop: Sandbox) -> None:
    change(shop, "a")
    change(shop, "b")
    shop.siding("rollback", "--step", "1")
    assert short(shop) == "shop +1\n"
    shop.siding("apply", "--no-close")
    assert short(shop) == "shop\n"
    change(shop, "c")
    assert short(shop) == "shop +1\n"
    shop.siding("undo")
    shop.siding("undo")
    assert short(shop) == "shop +1\n", "the apply was taken back"
    shop.siding("redo")
    assert short(shop) == "shop\n"


def test_where_there_is_no_task_it_says_nothing(sandbox: Sandbox, tmp_path: Path) -> None:
    assert short(sandbox) == "", "no project"
    assert short(sandbox, "-C", str(tmp_path)) == "", "no repository"
    sandbox.siding("init")
    assert short(sandbox) == "", "no task"
    sandbox.env["SIDING_TASK"] = "nothing"
    assert short(sandbox) == ""


def test_it_starts_no_other_program(shop: Sandbox, tmp_path: Path) -> None:
    change(shop, "a")
    done = subprocess.run(
        [sys.executable, "-m", "siding", "status", "--short"],
        cwd=shop.repo,
        env={**shop.env, "PATH": str(tmp_path / "nothing")},
        capture_output=True,
        check=True,
    )
    assert done.stdout == b"shop +1\n"
    assert os.fsencode(shop.repo) not in done.stderr

"""What a person does all day: where a command runs, what a PATH means, what is said about it."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from shutil import which

import pytest

from sandbox import SIDING, Sandbox, alive
from siding.ground.storage.locks import FileLock

INNER = shlex.join(SIDING)


def in_shell(sandbox: Sandbox, shell: str, script: str) -> "subprocess.CompletedProcess[bytes]":
    """Run a script in a person's shell, in the repository."""
    return subprocess.run(
        [shell, "-c", script],
        cwd=sandbox.repo,
        env=sandbox.env,
        capture_output=True,
        check=False,
        stdin=subprocess.DEVNULL,
        timeout=60,
    )


def said(sandbox: Sandbox, *words: str, **more: object) -> str:
    """Return what a command printed, on both streams."""
    done = sandbox.siding(*words, **more)  # type: ignore[arg-type]
    return (done.stdout + done.stderr).decode()


@pytest.mark.parametrize("where", [".", "src"])
def test_pwd_is_where_the_command_runs(sandbox: Sandbox, where: str) -> None:
    """opencode takes PWD for its project: with the caller's it edited the person's checkout."""
    here = sandbox.repo / where
    told = {"PWD": str(here), "OLDPWD": str(sandbox.directory)}
    # A shell would correct its own PWD; Python shows the one that it was given.
    code = "import os; print([os.environ.get(name) for name in ('PWD', 'OLDPWD')])"
    done = sandbox.siding("run", "--", sys.executable, "-c", code, cwd=here, env=told)
    assert done.stdout.decode() == f"{[os.path.normpath(sandbox.workspace() / where), None]}\n"


def test_hooks_have_their_own_pwd_too(sandbox: Sandbox) -> None:
    sandbox.siding("init")
    code = "import os; print(os.environ['PWD'] == os.getcwd())"
    hook = shlex.join([sys.executable, "-c", code]) + " >> hook.txt"
    (sandbox.project / "config.yaml").write_text(json.dumps({"hooks": {"pre_run": [hook]}}))
    sandbox.siding("run", "--", "true", cwd=sandbox.repo / "src", env={"PWD": str(sandbox.repo)})
    assert (sandbox.workspace() / "hook.txt").read_text() == "True\n"


@pytest.mark.parametrize(
    "words",
    [["run", "--wait", "--", "true"], ["sync", "--wait"], ["rollback", "--base", "--wait"]],
)
def test_no_command_waits_for_the_step_it_runs_in(sandbox: Sandbox, words: list[str]) -> None:
    script = f"{INNER} {shlex.join(words)} 2> said; echo $? >> said"
    sandbox.siding("run", "--", "sh", "-c", script)
    inside = (sandbox.workspace() / "said").read_text()
    assert "runs inside run r1" in inside
    assert "--wait" not in inside
    assert inside.endswith("1\n")


def test_not_even_around_a_corner(sandbox: Sandbox) -> None:
    """A step of one task runs one of a second task, which would wait for the first."""
    sandbox.siding("task", "start", "one")
    sandbox.siding("task", "start", "two")
    third = f"{INNER} run -t one --wait -- true 2> said"
    second = f"{INNER} run -t two -- sh -c {shlex.quote(third)}"
    sandbox.siding(
        "run", "-t", "one", "--", "env", "-i", "sh", "-c", _with_env(sandbox, second), status=None
    )
    assert "runs inside a run or a hook of task" in (sandbox.workspace("two") / "said").read_text()


def _with_env(sandbox: Sandbox, line: str) -> str:
    """Return a line for a shell without an environment: nothing says that a step is running."""
    exports = " ".join(
        f"export {name}={shlex.quote(value)};" for name, value in sandbox.env.items()
    )
    return f"{exports} {line}"


def test_a_hint_to_wait_is_given_where_there_is_such_an_option(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", "slow")
    (directory,) = (sandbox.project / "tasks").iterdir()
    with FileLock(directory / "lock"):  # another command records or moves the task's state
        assert "--wait waits" in said(sandbox, "rollback", "--base", status=1)
    busy = subprocess.Popen(
        [*SIDING, "run", "--", "sh", "-c", "echo > begun; sleep 300"],
        cwd=sandbox.repo,
        env=sandbox.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        while not (sandbox.workspace() / "begun").exists():
            assert busy.poll() is None
        assert "--wait" not in said(sandbox, "task", "close", status=1)
        (running,) = sandbox.json("log", "--format", "json")
        assert (running["step_id"], running["status"]) == ("0001", "running")
        assert "| running |" in said(sandbox, "log", "--format", "markdown")
    finally:
        busy.kill()
        busy.wait()
    (gone,) = sandbox.json("log", "--format", "json")
    assert gone["status"] == "cut off"
    sandbox.siding("run", "--", "true")
    assert [step["status"] for step in sandbox.steps()] == ["interrupted", "completed"]


def test_every_line_names_its_task(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", "first things")
    for words in (
        ("run", "--", "sh", "-c", "echo x > x"),
        ("checkpoint", "-m", "so far"),
        ("rollback", "--base"),
        ("rollback", "--base"),  # there already
        ("undo",),
        ("undo",),
        ("apply", "--no-close"),
    ):
        assert "siding: first things · " in said(sandbox, *words), words


def test_paths_begin_where_one_stands(sandbox: Sandbox) -> None:
    src = sandbox.repo / "src"
    sandbox.siding("task", "start", "paths")
    sandbox.siding("run", "--", "sh", "-c", "echo b >> src/a.py; echo top > top.txt")
    workspace = sandbox.workspace()
    for cwd in (src, workspace / "src"):
        assert "1 file" in said(sandbox, "diff", "--stat", "a.py", cwd=cwd)
        assert "src/a.py" in said(sandbox, "diff", ".", cwd=cwd)
        assert "top.txt" not in said(sandbox, "diff", ".", cwd=cwd)
        assert "2 files" in said(sandbox, "diff", "--stat", "..", cwd=cwd)
        plan = said(sandbox, "rollback", "--base", "--dry-run", "a.py", cwd=cwd)
        assert plan == "write   src/a.py\n"
    for absolute in (src / "a.py", workspace / "src" / "a.py"):
        assert "1 file" in said(sandbox, "diff", "--stat", str(absolute))
    assert "src/a.py" in said(sandbox, "apply", "--dry-run", "--paths", "a.py", cwd=src)
    assert "top.txt" not in said(sandbox, "apply", "--dry-run", "--paths", "a.py", cwd=src)


@pytest.mark.parametrize(
    "words",
    [
        ["diff", "nosuch"],
        ["diff", "--stat", "src/nosuch"],
        ["diff", "--step", "1", "nosuch"],
        ["rollback", "--base", "nosuch"],
        ["rollback", "--base", "--dry-run", "nosuch"],
        ["apply", "--paths", "nosuch"],
        ["apply", "--dry-run", "--paths", "a.py"],  # src/a.py is what there is
    ],
)
def test_a_path_that_is_not_there_is_an_error(sandbox: Sandbox, words: list[str]) -> None:
    sandbox.siding("run", "--", "sh", "-c", "echo b >> src/a.py")
    text = said(sandbox, *words, status=1)
    assert "there is no '" in text
    assert (sandbox.workspace() / "src" / "a.py").read_text() == "a = 1\nb\n"


def test_a_path_outside_is_an_error(sandbox: Sandbox) -> None:
    sandbox.siding("run", "--", "sh", "-c", "echo b >> src/a.py")
    for words in (["diff", "../../etc"], ["diff", "/etc/passwd"], ["rollback", "--base", "../x"]):
        assert "nor your checkout" in said(sandbox, *words, status=2)


def test_a_path_that_did_not_change_is_no_error(sandbox: Sandbox) -> None:
    sandbox.siding("run", "--", "sh", "-c", "echo b >> src/a.py")
    assert said(sandbox, "diff", "--stat", "hello.txt") == "no change\n"
    text = said(sandbox, "apply", "--dry-run", "--paths", "hello.txt")
    assert text == "nothing to apply: the task changed nothing below these paths\n"


def test_show_tells_commits_and_processes(sandbox: Sandbox) -> None:
    script = "echo b >> src/a.py; git commit -qam 'the agent says' ; sleep 300 >&- 2>&- & echo $!"
    done = sandbox.siding("run", "--", "sh", "-c", script)
    pid = int(done.stdout)
    try:
        assert alive(pid)
        text = said(sandbox, "show")
        head = sandbox.git("rev-parse", "HEAD", cwd=sandbox.workspace())
        assert f"commit    {head[:12]} the agent says" in text
        assert f"process   {pid} (sleep) left running" in text
    finally:
        os.kill(pid, 9)


def test_show_tells_where_an_apply_went(sandbox: Sandbox) -> None:
    before = sandbox.git("rev-parse", "main")
    sandbox.siding("run", "--", "sh", "-c", "echo b >> src/a.py")
    sandbox.siding("apply", "--no-close")
    after = sandbox.git("rev-parse", "main")
    text = said(sandbox, "show")
    assert f"branch    main, from {before[:12]} to {after[:12]}" in text
    assert f"commit    {after[:12]} " in text
    assert "          src/a.py\n" in text
    sandbox.siding("undo")
    assert "undoes    step" in said(sandbox, "show")


def test_show_tells_what_was_not_captured(sandbox: Sandbox) -> None:
    script = "git init -q inner; cd inner; echo 1 > f; git add f; git commit -qm inner"
    sandbox.siding("run", "--", "sh", "-c", script)
    assert "left out  inner: " in said(sandbox, "show")


def test_blocked_ends_with_what_blocks(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", "first")
    sandbox.siding("task", "start", "second")
    sandbox.siding("task", "update", "second", "--blocked-by", "first")
    assert "(blocked)" in said(sandbox, "task", "list")
    rows = sandbox.json("task", "list", "--format", "json")
    assert {row["name"]: row["blocked"] for row in rows} == {"first": False, "second": True}
    sandbox.siding("task", "close", "first", "--force")
    assert "(blocked)" not in said(sandbox, "task", "list")
    sandbox.siding("task", "reopen", "first")
    assert "(blocked)" in said(sandbox, "task", "list")


def test_the_start_card_tells_the_truth(sandbox: Sandbox) -> None:
    (sandbox.repo / ".gitignore").write_text(".venv/\nnode_modules/\nall/\n.env\n")
    (sandbox.repo / ".worktreeinclude").write_text(".venv/bin/python\nall/\n.env\n")
    for name in (".venv/bin/python", ".venv/lib/x", "node_modules/y", "all/1", "all/2", ".env"):
        (sandbox.repo / name).parent.mkdir(parents=True, exist_ok=True)
        (sandbox.repo / name).write_text("x")
    sandbox.git("add", "-A")
    sandbox.git("commit", "-qm", "ignore")
    lines = said(sandbox, "task", "start", "card").splitlines()
    missing = next(line for line in lines if "missing" in line)
    assert "node_modules/" in missing
    assert ".venv" not in missing
    assert "all" not in missing
    assert any("the rest of .venv/ is not there" in line for line in lines)


class TestSubmodules:
    """`diff`, `apply` and `close` say the same of a submodule that was filled in the workspace."""

    @pytest.fixture
    def library(self, sandbox: Sandbox) -> Sandbox:
        library = sandbox.directory / "library"
        sandbox.git("clone", "-q", str(sandbox.repo), str(library))
        add = ["-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library), "lib"]
        sandbox.git(*add)
        sandbox.git("commit", "-qm", "with a library")
        update = ["git", "-c", "protocol.file.allow=always", "submodule", "update", "-q", "--init"]
        sandbox.siding("run", "--", *update)
        return sandbox

    def test_filling_it_is_no_change(self, library: Sandbox) -> None:
        assert said(library, "diff", "--stat") == "no change\n"
        assert library.steps()[-1]["diff_stat"]["files"] == 0
        assert said(library, "apply", "--dry-run") == "nothing to apply: the task changed nothing\n"
        library.siding("task", "close")

    def test_an_edit_is_one_file_and_is_left_out(self, library: Sandbox) -> None:
        library.siding("run", "--", "sh", "-c", "echo agent >> lib/hello.txt; echo own > own.txt")
        assert "M         +1 -0  lib/hello.txt\n2 files" in said(library, "diff", "--stat")
        assert "1 file +1" in said(library, "diff", "--stat", "lib")
        assert "1 file +1" in said(library, "diff", "--stat", "lib/hello.txt")
        assert "1 file +1" in said(library, "diff", "--stat", "own.txt")
        patch = library.siding("diff").stdout
        assert b"--- a/lib/hello.txt\n+++ b/lib/hello.txt\n" in patch
        plan = said(library, "apply", "--dry-run")
        assert "left out  lib  (its files are not committed in this submodule)" in plan
        assert "2 changed files" in said(library, "task", "close", status=1)
        text = said(library, "apply")
        assert "left out: lib" in text
        assert "stays open" in text
        assert library.git("show", "--name-only", "--format=", "main") == "own.txt"

    def test_a_commit_in_it_is_applied_as_a_commit(self, library: Sandbox) -> None:
        library.siding(
            "run", "--", "sh", "-c", "cd lib; echo agent >> hello.txt; git commit -qam in"
        )
        assert "M         +1 -0  lib/hello.txt\n1 file" in said(library, "diff", "--stat")
        inner = library.git("rev-parse", "HEAD", cwd=library.workspace() / "lib")
        library.siding("apply")
        assert inner in library.git("ls-tree", "main", "lib")


class TestShell:
    """`siding cd` in real shells."""

    @pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
    def test_cd_goes_there_and_back(self, sandbox: Sandbox, shell: str) -> None:
        if which(shell) is None:
            pytest.skip(f"{shell} is not installed")
        sandbox.siding("task", "start", "one thing")
        start = (
            "siding shell-init fish | source"
            if shell == "fish"
            else f'eval "$(siding shell-init {shell})"'
        )
        script = (
            f"{start}; siding cd 'one thing'; pwd; siding cd --main; pwd; siding cd nosuch; pwd"
        )
        done = in_shell(sandbox, shell, script)
        lines = done.stdout.decode().splitlines()
        assert lines == [str(sandbox.workspace()), str(sandbox.repo), str(sandbox.repo)], done

    def test_a_workspace_that_goes_away_takes_nobody_along(self, sandbox: Sandbox) -> None:
        sandbox.siding("task", "start", "one")
        script = 'eval "$(siding shell-init bash)"; siding cd one; echo x > x; siding apply; '
        script += 'echo "$? $PWD"'
        done = in_shell(sandbox, "bash", script)
        assert done.stdout.decode() == f"0 {sandbox.repo}\n", done
        assert f"back in {sandbox.repo}" in done.stderr.decode()

    def test_in_the_trash_it_is_said_where_one_is(self, sandbox: Sandbox) -> None:
        sandbox.siding("task", "start", "one")
        task = sandbox.json("task", "show", "--format", "json")["id"]
        sandbox.siding("task", "close")
        (gone,) = sandbox.project.glob("trash/*/workspace/src")
        for words in (["status"], ["run", "--", "true"], ["log"]):
            text = said(sandbox, *words, cwd=gone, status=1)
            assert f"workspace of task {task}, which was closed or removed" in text
            assert f"cd {sandbox.repo};" in text
        assert said(sandbox, "path", "--main", cwd=gone) == f"{sandbox.repo}\n"

    def test_without_the_function_it_says_what_to_do(self, sandbox: Sandbox) -> None:
        sandbox.siding("task", "start", "one")
        text = said(sandbox, "cd", "one", status=2, env={"SHELL": "/bin/zsh"})
        assert 'cd "$(siding path one)"' in text
        assert "~/.zshrc" in text

    def test_path_prints_the_workspace(self, sandbox: Sandbox) -> None:
        sandbox.siding("task", "start", "one")
        workspace = sandbox.workspace()
        assert said(sandbox, "path") == f"{workspace}\n"
        assert said(sandbox, "path", cwd=workspace / "src") == f"{workspace}\n"
        assert said(sandbox, "path", "--main", cwd=workspace) == f"{sandbox.repo}\n"
        sandbox.siding("task", "close", "--force")
        assert "task reopen" in said(sandbox, "path", "one", status=1)

    def test_open_starts_the_editor_in_the_workspace(
        self, sandbox: Sandbox, tmp_path: Path
    ) -> None:
        sandbox.siding("task", "start", "one")
        editor = tmp_path / "my editor"
        editor.write_text('#!/bin/sh\necho "$@" in "$PWD"; exit 3\n')
        editor.chmod(0o755)
        text = said(sandbox, "open", env={"EDITOR": f"'{editor}' -w"}, status=3)
        assert text == f"-w . in {sandbox.workspace()}\n"
        assert "command not found" in said(sandbox, "open", "--with", "nosuch-editor", status=1)
        assert "no editor is named" in said(sandbox, "open", env={"PATH": "/nonexistent"}, status=1)

"""What git cannot say is not taken for "nothing changed"."""

import shutil

import pytest

from sandbox import Sandbox


@pytest.mark.parametrize("words", [("status",), ("worktree", "status")])
def test_a_workspace_that_cannot_be_compared_is_not_clean(
    sandbox: Sandbox, words: tuple[str, ...]
) -> None:
    sandbox.siding("task", "start", "t")
    sandbox.siding("run", "--", "sh", "-c", "echo 1 >n")
    (sandbox.workspace() / "more").write_text("more\n")
    assert b"1 file" in sandbox.siding(*words).stdout
    tools = sandbox.directory / "tools"
    tools.mkdir()
    git = shutil.which("git")
    # The command that compares fails, as on a disk that cannot read a ref.
    asks = "*status*--porcelain*|*diff-files*|*diff-index*|*ls-files*|*write-tree*"
    fails = 'echo "fatal: Input/output error" >&2; exit 128'
    script = f'case "$*" in {asks}) {fails};; esac\nexec {git} "$@"\n'
    (tools / "git").write_text(f"#!/bin/sh\n{script}")
    (tools / "git").chmod(0o755)
    env = {"PATH": f"{tools}:{sandbox.env['PATH']}"}
    done = sandbox.siding(*words, env=env, status=None)
    said = (done.stdout + done.stderr).decode()
    assert "Input/output error" in said
    assert "clean" not in said

"""What a sandboxed run finds of credentials in git's settings and of files of root."""

import os
from pathlib import Path

import pytest

from bwrap import bwrap_problem
from integration.escapes.world import landlock_version, without_bwrap
from sandbox import Sandbox

LOOK = (
    "git config --list; cat $SIDING_REPO_ROOT/.git/config ~/.gitconfig; cat /etc/shadow;"
    "git fetch origin; echo x >f; git add f; git commit -qm inside"
)


@pytest.fixture
def task(sandbox: Sandbox) -> Sandbox:
    sandbox.git("config", "remote.origin.url", "https://bob:pw-of-bob@127.0.0.1:1/x")
    sandbox.git("config", "http.extraHeader", "Authorization: Basic dG9rLW9mLWhlYWRlcg==")
    (Path(sandbox.env["HOME"]) / ".gitconfig").write_text(
        '[url "https://tok-of-url@h.example/"]\n\tinsteadOf = https://h.example/\n'
        "[alias]\n\tlooked = status\n"
    )
    sandbox.siding("task", "start", "shown")
    return sandbox


@pytest.mark.skipif(bool(bwrap_problem()), reason="bwrap")
def test_git_works_without_the_credentials_in_its_settings(task: Sandbox) -> None:
    done = task.siding("run", "--sandbox=bwrap", "--", "sh", "-c", LOOK, status=None)
    said = (done.stdout + done.stderr).decode()
    for secret in ("pw-of-bob", "dG9rLW9m", "tok-of-url", "root:"):
        assert secret not in said, said
    assert "remote.origin.url=https://127.0.0.1:1/x" in said
    assert "alias.looked=status" in said
    assert "unable to access 'https://127.0.0.1:1/x" in said
    assert task.git("log", "-1", "--format=%s", cwd=task.workspace()) == "inside"
    # Outside nothing has changed.
    assert task.git("config", "remote.origin.url") == "https://bob:pw-of-bob@127.0.0.1:1/x"


@pytest.mark.skipif(landlock_version() == 0, reason="this kernel has no Landlock")
def test_landlock_names_what_it_cannot_hide(task: Sandbox) -> None:
    path = without_bwrap(task.directory)
    words = ("sh", "-c", "git config --global --list --includes; cat /etc/shadow")
    done = task.siding("run", "--sandbox", "--", *words, status=None, env=path)
    said = (done.stdout + done.stderr).decode()
    assert "tok-of-url" not in said
    assert "alias.looked=status" in said
    assert os.geteuid() or "root:" not in said
    assert "Landlock holds this sandbox" in said
    config = os.path.realpath(task.repo / ".git/config")
    assert f"{config} has a credential in it" in said
    # What must have bwrap does not run with less.
    refused = task.siding("run", "--sandbox=bwrap", "--", "touch", "f", status=1, env=path)
    assert b"bwrap was asked for" in refused.stderr
    assert not (task.workspace() / "f").exists()


@pytest.mark.skipif(bool(bwrap_problem()), reason="bwrap")
def test_what_lives_in_memory_has_a_size(task: Sandbox) -> None:
    config = Path(task.env["SIDING_HOME"]) / "config.yaml"
    config.write_text("sandbox: {mode: on, engine: bwrap, room: 60MiB}\n")
    fill = "for d in /tmp /dev/shm ~; do head -c 50000000 /dev/zero >$d/x; done; touch /dev/x"
    done = task.siding("run", "--", "sh", "-c", fill, status=None)
    assert done.stderr.count(b"No space left on device") == 3, done.stderr
    assert b"/dev/x'" in done.stderr
    assert b"Read-only file system" in done.stderr
    config.write_text("sandbox: {mode: on, engine: landlock}\n")
    wrong = task.siding("run", "--", "true", status=None)
    assert b"sandbox.engine in" in wrong.stderr
    assert b"should be bwrap" in wrong.stderr

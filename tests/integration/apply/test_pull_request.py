"""`siding pr` against a bare repository and a `gh` that takes what the real one takes."""

import json
from pathlib import Path
from typing import Any

import pytest

from .conftest import Stage

# The parts of `gh pr view` and `gh pr create` that are used, and nothing else: an option that the
# real one does not have, or a missing value, is an error here as well (status 1, as gh has it).
GH = r"""#!/usr/bin/env python3
import argparse, json, os, pathlib, subprocess, sys
state = pathlib.Path(os.environ["HOME"], "gh.json")
known = json.loads(state.read_text()) if state.exists() else {}
def fail(text, status=1):
    print(text, file=sys.stderr); sys.exit(status)
if os.environ.get("GH_TOKEN") == "none":
    fail("To get started with GitHub CLI, please run:  gh auth login", 4)
parser = argparse.ArgumentParser(allow_abbrev=False)
verbs = parser.add_subparsers(dest="noun", required=True)
pr = verbs.add_parser("pr").add_subparsers(dest="verb", required=True)
view = pr.add_parser("view"); view.add_argument("branch"); view.add_argument("--json")
create = pr.add_parser("create")
for short, name in (("-H", "--head"), ("-B", "--base"), ("-t", "--title"), ("-F", "--body-file")):
    create.add_argument(short, name, required=True)
create.add_argument("-d", "--draft", action="store_true")
a = parser.parse_args()
if a.verb == "view":
    if a.branch not in known:
        fail(f'no pull requests found for branch "{a.branch}"')
    print(json.dumps({k: known[a.branch][k] for k in a.json.split(",")})); sys.exit(0)
heads = subprocess.run(["git", "ls-remote", "--heads", "origin"], capture_output=True, text=True)
if f"refs/heads/{a.head}\n" not in heads.stdout:
    fail("pull request create failed: GraphQL: Head sha can't be blank (createPullRequest)")
if a.head in known and known[a.head]["state"] == "OPEN":
    fail(f'a pull request for branch "{a.head}" into branch "{a.base}" already exists')
url = f"https://github.example/ada/repo/pull/{len(known) + 1}"
known[a.head] = {"url": url, "state": "OPEN", "title": a.title, "base": a.base,
                 "body": sys.stdin.read() if a.body_file == "-" else open(a.body_file).read(),
                 "draft": a.draft}
state.write_text(json.dumps(known))
print(f"\nCreating pull request for {a.head} into {a.base} in ada/repo\n", file=sys.stderr)
print(url)
"""


@pytest.fixture
def hosted(stage: Stage, tmp_path: Path) -> Stage:
    """The stage with a remote, and a gh on the search path."""
    stage.git("init", "-q", "--bare", str(tmp_path / "remote.git"))
    stage.git("remote", "add", "origin", str(tmp_path / "remote.git"))
    stage.git("push", "-q", "-u", "origin", "main")
    home = Path(stage.box.env["HOME"])
    (home / "bin").mkdir()
    gh = home / "bin" / "gh"
    gh.write_text(GH)
    gh.chmod(0o755)
    stage.box.env["PATH"] = f"{home / 'bin'}:{stage.box.env['PATH']}"
    return stage


def pr(stage: Stage, *options: str, status: int = 0, **more: Any) -> str:
    done = stage.box.siding("pr", "-t", stage.task, *options, status=status, **more)
    return (done.stdout + done.stderr).decode()


def opened(stage: Stage) -> dict[str, Any]:
    known = json.loads(Path(stage.box.env["HOME"], "gh.json").read_text())
    assert isinstance(known, dict)
    (only,) = known.values()
    return dict(only)


def branch(stage: Stage) -> str:
    return stage.git("branch", "--list", "siding/*", "--format=%(refname:short)")


def test_pushed_and_opened_with_a_text_from_the_ledger(hosted: Stage) -> None:
    hosted.agent("echo one >one.txt; git add .; git commit -qm 'agent one'; echo rest >rest.txt")
    hosted.box.siding(
        "-q",
        "run",
        "-t",
        hosted.task,
        "--",
        "sh",
        "-c",
        "true # --token ghp_0123456789abcdef | `x` PASSWORD=hunter22 @everybody",
    )
    local = hosted.git("rev-parse", branch(hosted))
    before = hosted.everything()[0]
    said = pr(hosted, "--draft")
    assert "https://github.example/ada/repo/pull/1" in said
    found = opened(hosted)
    assert found["title"] == "Fix the parser"
    assert found["base"] == "main"
    assert found["draft"] is True
    assert "- agent one\n- Fix the parser\n" in found["body"]
    assert "| 0001 | `sh -ec" in found["body"]
    for secret in ("ghp_0123", "hunter22"):
        assert secret not in found["body"]
    name = branch(hosted)
    assert hosted.git("rev-parse", name) == local
    assert hosted.show("rest.txt", f"origin/{name}") == "rest\n"
    assert hosted.subjects(f"origin/{name}")[:2] == ["Fix the parser", "agent one"]
    assert hosted.everything()[0] == before


def test_a_second_time_pushes_on_top(hosted: Stage) -> None:
    hosted.agent("echo one >one.txt")
    pr(hosted)
    hosted.agent("echo two >two.txt")
    assert "has them now" in pr(hosted)
    assert hosted.files(f"origin/{branch(hosted)}").count("two.txt") == 1
    assert hosted.git("rev-list", "--count", f"main..origin/{branch(hosted)}") == "2"


def test_the_branch_there_has_other_commits(hosted: Stage, tmp_path: Path) -> None:
    hosted.agent("echo one >one.txt")
    pr(hosted)
    other = tmp_path / "other"
    hosted.git("clone", "-q", "-b", branch(hosted), str(tmp_path / "remote.git"), str(other))
    hosted.git("commit", "-q", "--allow-empty", "-m", "review", cwd=other)
    hosted.git("push", "-q", cwd=other)
    hosted.agent("echo two >two.txt")
    assert "did not take" in pr(hosted, status=1)
    assert "did not take" in pr(hosted, "--force", status=1)  # what was not fetched is not replaced
    hosted.git("fetch", "-q")
    pr(hosted)  # on top of what was fetched
    assert "review" in hosted.subjects(f"origin/{branch(hosted)}")


def test_a_fetch_does_not_count_as_having_looked(hosted: Stage, tmp_path: Path) -> None:
    """A background fetch makes git's own lease hold; ours is on what Siding pushed last."""
    hosted.agent("echo one >one.txt; git add -A; git commit -qm one")
    pr(hosted)
    other = tmp_path / "other"
    hosted.git("clone", "-q", "-b", branch(hosted), str(tmp_path / "remote.git"), str(other))
    hosted.git("commit", "-q", "--allow-empty", "-m", "review", cwd=other)
    hosted.git("push", "-q", cwd=other)
    hosted.git("fetch", "-q")
    hosted.agent("git commit -q --amend -m 'one again'")
    assert "did not take" in pr(hosted, status=1)
    said = pr(hosted, "--force", status=1)
    assert "did not take" in said
    assert "nothing that others pushed" in said
    hosted.git("push", "-q", "-f", "origin", "HEAD~:" + f"refs/heads/{branch(hosted)}", cwd=other)
    pr(hosted, "--force")
    assert "one again" in hosted.subjects(f"origin/{branch(hosted)}")


def test_what_was_pushed_is_known_also_where_gh_failed(hosted: Stage) -> None:
    hosted.agent("echo one >one.txt; git add -A; git commit -qm one")
    hosted.box.env["GH_TOKEN"] = "none"
    pr(hosted, status=1)
    del hosted.box.env["GH_TOKEN"]
    hosted.agent("git commit -q --amend -m 'one again'")
    assert "did not take" in pr(hosted, status=1)
    pr(hosted, "--force")
    assert "one again" in hosted.subjects(f"origin/{branch(hosted)}")


def test_without_gh_the_branch_is_pushed_and_the_rest_said(hosted: Stage) -> None:
    Path(hosted.box.env["HOME"], "bin", "gh").unlink()
    hosted.agent("echo one >one.txt")
    assert "gh is not installed" in pr(hosted)
    assert "one.txt" in hosted.files(f"origin/{branch(hosted)}")


def test_gh_that_is_not_logged_in(hosted: Stage) -> None:
    hosted.agent("echo one >one.txt")
    assert "gh auth login" in pr(hosted, status=1, env={"GH_TOKEN": "none"})
    assert "pull/1" in pr(hosted)


def test_no_remote(stage: Stage) -> None:
    stage.agent("echo one >one.txt")
    assert "no remote" in pr(stage, status=1)


def test_nothing_to_propose(hosted: Stage) -> None:
    assert "nothing to propose" in pr(hosted, status=1)


def test_a_pre_push_hook_refuses(hosted: Stage) -> None:
    hook = hosted.repo / ".git/hooks/pre-push"
    hook.write_text("#!/bin/sh\necho not on a friday >&2\nexit 1\n")
    hook.chmod(0o755)
    hosted.agent("echo one >one.txt")
    assert "not on a friday" in pr(hosted, status=1)


SECRET = "key-of-the-vault"
BAD = f"echo {SECRET} >>text.txt; git commit -qam 'oops {SECRET}'"


def remote_history(stage: Stage) -> str:
    """Return all that the remote shows of the branch."""
    remote = stage.git("remote", "get-url", "origin")
    return stage.git("--git-dir", remote, "log", "-p", "-m", "--all")


def test_what_was_gone_back_from_is_not_pushed(hosted: Stage) -> None:
    hosted.agent(BAD)
    hosted.box.siding("rollback", "-t", hosted.task, "--base", "--files")
    hosted.agent("echo good >good.txt; git add -A; git commit -qm good")
    shown = pr(hosted, "--dry-run")
    assert "gone back from" in shown
    said = pr(hosted)
    assert f"oops {SECRET} (gone back from)" in said
    assert SECRET not in remote_history(hosted)
    assert hosted.show("good.txt", f"origin/{branch(hosted)}") == "good\n"
    body = opened(hosted)["body"]
    assert "oops" not in body
    assert "| 0001 | gone back from | | |" in body
    assert "| 0003 | `sh -ec" in body
    hosted.agent("echo more >more.txt; git add -A; git commit -qm more")
    pr(hosted)  # on top of what was pushed
    assert SECRET not in remote_history(hosted)
    assert hosted.git("rev-list", "--count", f"main..origin/{branch(hosted)}") == "2"


@pytest.mark.parametrize("moved_away", [False, True])
def test_nothing_is_pushed_on_top_of_what_was_gone_back_from(
    hosted: Stage, *, moved_away: bool
) -> None:
    hosted.agent(BAD)
    pr(hosted)
    hosted.box.siding("rollback", "-t", hosted.task, "--base")
    if moved_away:
        hosted.git("reset", "-q", "HEAD^", cwd=hosted.workspace)
    hosted.agent("echo good >good.txt; git add -A; git commit -qm good")
    before = hosted.git("rev-parse", f"origin/{branch(hosted)}")
    said = pr(hosted, status=1)
    assert "oops" in said
    assert "--force" in said
    assert hosted.git("rev-parse", f"origin/{branch(hosted)}") == before
    pr(hosted, "--force")
    assert SECRET not in remote_history(hosted)
    assert hosted.show("good.txt", f"origin/{branch(hosted)}") == "good\n"

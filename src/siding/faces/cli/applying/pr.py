"""Push a task's work as a branch and open a pull request with `gh`.

The agent's commits are pushed as they are, and what it left uncommitted as one more on top. Where a
rollback went back from some of them, everything else is pushed as one commit instead. The text is
made from the ledger, with everything that looks like a secret masked; --dry-run shows it. This is
your own git and gh use the network for it, in your own repository.

  siding pr -n                      the text and what would be pushed
  siding pr --draft
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import Screen, inert
from siding.faces.cli.screen.words import task_name
from siding.ground.errors import UsageError, counted

if TYPE_CHECKING:
    from siding.applying.pull_request import LeftOut, PreparedPullRequest, PullRequest, RawCommit


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("-t", "--task", metavar="TASK", help="the task (default: this terminal's)")
    parser.add_argument("--title", help="default: the task's name")
    parser.add_argument("--body-file", metavar="FILE", help="a text instead of the ledger's")
    parser.add_argument("--base", metavar="BRANCH", help="default: the one the task started from")
    parser.add_argument("--remote", metavar="NAME", help="default: the base's, else origin")
    parser.add_argument("--branch", metavar="NAME", help="its name there (default: the task's)")
    parser.add_argument("--draft", action="store_true", help="open it as a draft")
    parser.add_argument("--sign", action="store_true", help="sign the commit with your key")
    parser.add_argument(
        "-f",
        "--force",
        action="store_true",
        help="replace the branch there, if it is as Siding pushed it last",
    )
    parser.add_argument(
        "--now", action="store_true", help="while runs live: the workspace as it is now"
    )
    parser.add_argument(
        "-n", "--dry-run", action="store_true", help="only say what would be done, with the text"
    )
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def run(arguments: Namespace, context: Context) -> int:
    from siding.applying.pull_request import PullRequestRequest, open_pull_request, prepare
    from siding.record.place.project import require_project

    project = require_project(context.app)
    screen = context.screen
    wish = PullRequestRequest(
        task=arguments.task,
        title=arguments.title,
        body=_body(arguments.body_file),
        base=arguments.base,
        remote=arguments.remote,
        branch=arguments.branch,
        draft=arguments.draft,
        force=arguments.force,
        sign=arguments.sign,
        now=arguments.now,
    )
    if arguments.dry_run:
        _show(screen, prepare(project, wish))
        return 0
    done = open_pull_request(project, wish)
    prepared = done.prepared
    if arguments.json:
        print_json(screen, _record(done))
        return 0
    screen.note(
        f"{task_name(prepared.task.name)} · pushed {counted(prepared.new_commits, 'commit')} to "
        f"{prepared.remote} as {prepared.branch}"
    )
    if prepared.note:
        screen.note(inert(prepared.note), "yellow")
    for commit in prepared.gone_back:
        screen.note(f"  left out: {_gone_back(commit)}", "yellow")
    for left in prepared.left_out:
        screen.note(f"  left out: {_path(left)} ({left.why})", "yellow")
    if done.url is not None:
        screen.note("opened" if done.created else "the open pull request has them now:")
        screen.print(inert(done.url))
        return 0
    screen.note("gh is not installed, so the pull request is yours to open")
    if done.page is not None:
        screen.print(inert(done.page))
    screen.note("`siding pr --dry-run` shows the text for it; with gh, `siding pr` opens it")
    return 0


def _show(screen: Screen, prepared: PreparedPullRequest) -> None:
    """Print what would be pushed, and the text of the pull request."""
    commits = counted(prepared.new_commits, "commit")
    screen.print(f"{prepared.branch} -> {inert(prepared.remote)}, for {prepared.base}")
    screen.print(f"{commits}, the last {prepared.commit[:12]}")
    if prepared.note:
        screen.print(inert(prepared.note))
    for commit in prepared.gone_back:
        screen.print(f"left out: {_gone_back(commit)}")
    for left in prepared.left_out:
        screen.print(f"left out: {_path(left)} ({left.why})")
    screen.print(f"\n{inert(prepared.title)}\n\n{inert(prepared.body, lines=True)}")


def _record(done: PullRequest) -> dict[str, object]:
    """Return what was done, as it is printed as JSON."""
    prepared = done.prepared
    return {
        "url": done.url,
        "created": done.created,
        "branch": prepared.branch,
        "remote": prepared.remote,
        "base": prepared.base,
        "commit": prepared.commit,
        "page": done.page,
        "notes": [prepared.note] if prepared.note else [],
        "left_out": [{"path": _path(o), "why": o.why} for o in prepared.left_out],
        "gone_back": [
            {"commit": each.sha[:12], "subject": inert(each.subject)} for each in prepared.gone_back
        ],
    }


def _path(left: LeftOut) -> str:
    return inert(left.path.decode("utf-8", "backslashreplace"))


def _gone_back(commit: RawCommit) -> str:
    return f"commit {commit.sha[:10]} {inert(commit.subject)} (gone back from)"


def _body(file: str | None) -> str | None:
    from pathlib import Path

    if file is None:
        return None
    try:
        return Path(file).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise UsageError(f"{file!r} is not UTF-8 text") from None

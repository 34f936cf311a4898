"""What a pull request is made of, what git and gh are asked for, and what is kept of it."""

import json
import shutil
from collections.abc import Sequence
from typing import Any

import pytest

from integration.undo.desk import Desk
from siding.applying import pull_request
from siding.applying.content import Side, state_at
from siding.applying.history import Unresolved
from siding.applying.person_git import remote_of
from siding.applying.pull_request import (
    NoPullRequest,
    PreparedPullRequest,
    PullRequest,
    PullRequestRequest,
    PushFailed,
    open_pull_request,
    prepare,
    push,
)
from siding.applying.rolled_back_commits import WouldPublish
from siding.ground.errors import SidingError
from siding.ground.process.capture import Completed
from siding.record.acts.pause import Pause
from siding.record.ledger.run_details import CheckpointDetail
from siding.record.place.events import PullRequestChanged
from siding.record.place.project import RepositoryGone
from siding.record.recording.held_traps import TrapsUnseen
from siding.record.runs.run import ProcessMark, Run
from siding.record.runs.store import Runs
from siding.record.tasks.names import name_after_command
from siding.syncing.plan import SyncRequest
from siding.syncing.sync import sync

from .ledgers import Told


@pytest.fixture
def hosted(desk: Desk) -> Desk:
    """A task of a repository that has a remote."""
    remote = desk.sandbox.directory / "remote.git"
    desk.sandbox.git("init", "-q", "--bare", str(remote))
    desk.sandbox.git("remote", "add", "origin", str(remote))
    desk.sandbox.git("push", "-q", "-u", "origin", "main")
    return desk


def prepared(desk: Desk, **more: Any) -> PreparedPullRequest:
    return prepare(desk.project, PullRequestRequest(task=desk.task.id, **more))


def opened(desk: Desk, **more: Any) -> PullRequest:
    return open_pull_request(desk.project, PullRequestRequest(task=desk.task.id, **more))


def told(desk: Desk) -> dict[str, Any]:
    record = desk.project.tasks.load(desk.task.id).metadata["pull_request"]
    assert isinstance(record, dict)
    return record


def agents(desk: Desk, name: str, content: str = "1\n") -> str:
    desk.write(name, content)
    desk.git("add", "-A")
    desk.git("commit", "-q", "-m", f"add {name}")
    return desk.git("rev-parse", "HEAD")


def test_the_agents_commits_and_the_rest_on_top(hosted: Desk) -> None:
    one = agents(hosted, "one")
    found = prepared(hosted)
    assert found.commit == one
    hosted.write("rest", "1\n")
    found = prepared(hosted)
    text = hosted.sandbox.git("log", "-1", "--format=%P %B", found.commit).strip()
    assert text == f"{one} work\n\nSiding-Task: {hosted.task.id}"
    names = hosted.sandbox.git("ls-tree", "--name-only", found.commit).split()
    assert {"one", "rest"} < set(names)
    assert found._replace(body="") == PreparedPullRequest(
        task=hosted.task,
        commit=found.commit,
        branch=hosted.branch,
        remote="origin",
        url=str(hosted.sandbox.directory / "remote.git"),
        base="main",
        title="work",
        body="",
        new_commits=2,
        gone_back=(),
    )
    assert found.body.startswith("- add one\n- work\n")
    assert not (hosted.project.snapshots.root / "applies" / hosted.task.id).exists()


def test_runs_go_on_before_the_commit_is_made(
    hosted: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []

    def state(*words: Any) -> Side:
        order.append("made")
        return state_at(*words)

    monkeypatch.setattr(Pause, "go_on", lambda _: order.append("goes on"))
    monkeypatch.setattr(pull_request, "state_at", state)
    hosted.write("rest", "1\n")
    assert prepared(hosted).new_commits == 1
    assert order[:2] == ["goes on", "made"]


def test_beside_runs_it_is_of_the_newest_recorded_state(
    hosted: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    hosted.write("one", "1\n")
    hosted.checkpoint()
    hosted.write("two", "1\n")
    live = Run(1, "", ("x",), ".", token="t", boot="", host=ProcessMark())
    monkeypatch.setattr(Runs, "live", lambda _: [live])
    found = prepared(hosted)
    assert found.note.startswith("taken as in step 0001, because r1 `x` lives")
    names = hosted.sandbox.git("ls-tree", "--name-only", found.commit).split()
    assert ("one" in names, "two" in names) == (True, False)


def test_without_the_repository_there_is_nothing_to_push(hosted: Desk) -> None:
    shutil.rmtree(hosted.sandbox.repo / ".git")
    with pytest.raises(RepositoryGone):
        prepared(hosted)


def test_without_a_commit_at_head_it_is_one_on_top_of_the_base(hosted: Desk) -> None:
    hosted.write("one", "1\n")
    hosted.git("checkout", "-q", "--orphan", "new")
    found = prepared(hosted)
    base = hosted.sandbox.git("rev-parse", "main")
    assert hosted.sandbox.git("rev-parse", f"{found.commit}^@") == base
    assert found.new_commits == 1


def test_what_a_sync_brought_in_is_not_proposed_again(hosted: Desk) -> None:
    (hosted.sandbox.repo / "theirs").write_text("1\n")
    hosted.sandbox.git("add", "-A")
    hosted.sandbox.git("commit", "-q", "-m", "theirs")
    agents(hosted, "one")
    sync(hosted.project, SyncRequest(task=hosted.task.id))
    found = prepared(hosted)
    assert found.new_commits == 1
    assert found.body.startswith("- add one\n")
    assert "theirs" not in found.body
    step = hosted.checkpoint().number
    agents(hosted, "bad")
    hosted.checkpoint()
    hosted.rollback(step, files_only=True)
    found = prepared(hosted)
    assert [each.subject for each in found.gone_back] == ["add bad"]
    synced = hosted.sandbox.git("rev-parse", "main")
    assert hosted.sandbox.git("rev-parse", f"{found.commit}^@") == synced


def test_a_branch_is_named_after_its_title_unless_it_was_pushed_before(hosted: Desk) -> None:
    """A task that is called after its command, and whose agent was asked something."""
    told, command = Told(hosted), ["agent", "-p", "what nobody is to know"]
    project, name = hosted.project, name_after_command(command)
    project.tasks.save(hosted.task._replace(name=name))
    told.run(cmd=command, snapshot=told.base)
    hosted.write("one", "1\n")
    found = prepared(hosted)
    asked = "what nobody is to know"
    assert (found.title, found.branch) == (asked, hosted.project.branch_for(asked, hosted.task.id))
    told.line(CheckpointDetail(prompt="mend it"), snapshot=told.base)
    found = prepared(hosted)
    assert (found.title, found.branch) == ("mend it", f"siding/mend-it-{hosted.task.id}")
    assert hosted.sandbox.git("log", "-1", "--format=%s", found.commit) == "mend it"
    assert prepared(hosted, branch="mine").branch == "mine"
    hosted.sandbox.git("push", "-q", "origin", f"{told.main}:refs/heads/{hosted.branch}")
    assert prepared(hosted).branch == hosted.branch


def test_what_a_person_says_counts(hosted: Desk) -> None:
    hosted.write("rest", "1\n")
    hosted.sandbox.git("remote", "add", "other", "git@github.com:ada/repo.git")
    found = prepared(
        hosted, title="told", body="", base="next", remote="other", branch="b/c", sign=False
    )
    assert found[2:8] == ("b/c", "other", "git@github.com:ada/repo.git", "next", "told", "")
    assert hosted.sandbox.git("log", "-1", "--format=%s", found.commit) == "told"
    with pytest.raises(SidingError, match="there is no remote 'nowhere'"):
        prepared(hosted, remote="nowhere")


def test_the_remote_is_that_of_the_base_then_origin_then_any(hosted: Desk) -> None:
    git, project = hosted.sandbox.git, hosted.project
    git("remote", "add", "another", "there")
    git("config", "branch.next.remote", "another")
    git("config", "branch.gone.remote", "nowhere")
    origin = ("origin", str(hosted.sandbox.directory / "remote.git"))
    for base, found in (
        ("main", origin),
        ("next", ("another", "there")),
        ("refs/heads/next", ("another", "there")),
        ("gone", origin),
        ("unknown", origin),
    ):
        assert remote_of(project, None, base) == found
    assert remote_of(project, "another", "main") == ("another", "there")
    git("remote", "remove", "origin")
    assert remote_of(project, None, "main") == ("another", "there")
    git("remote", "remove", "another")
    with pytest.raises(SidingError, match="this repository has no remote"):
        remote_of(project, None, "main")


def test_a_task_that_changed_nothing_has_nothing_to_propose(hosted: Desk) -> None:
    with pytest.raises(SidingError, match="task 'work' has changed nothing"):
        prepared(hosted)


def test_what_was_pushed_before_is_gone_on_from(hosted: Desk) -> None:
    hosted.write("one", "1\n")
    first = opened(hosted).prepared
    hosted.write("two", "1\n")
    second = opened(hosted).prepared
    assert hosted.sandbox.git("rev-parse", f"{second.commit}^") == first.commit
    assert second.new_commits == 2
    assert opened(hosted).prepared.commit == second.commit
    assert hosted.sandbox.git("rev-parse", f"origin/{hosted.branch}") == second.commit
    assert told(hosted)["commit"] == second.commit


def test_a_history_that_the_agent_wrote_anew_is_not_put_on_top_of_what_was_pushed(
    hosted: Desk,
) -> None:
    agents(hosted, "one")
    assert opened(hosted).prepared.new_commits == 1
    hosted.git("commit", "-q", "--amend", "-m", "better")
    assert prepared(hosted).commit == hosted.git("rev-parse", "HEAD")


def test_what_was_gone_back_from_stays_here(hosted: Desk) -> None:
    hosted.checkpoint()
    base = hosted.sandbox.git("rev-parse", "main")
    bad = agents(hosted, "bad")
    hosted.checkpoint()
    hosted.rollback(1, files_only=True)
    hosted.write("good", "1\n")
    found = prepared(hosted)
    assert [each.sha for each in found.gone_back] == [bad]
    assert hosted.sandbox.git("rev-parse", f"{found.commit}^") == base
    assert "| 0002 | gone back from | | |" in found.body
    hosted.sandbox.git("push", "-q", "origin", f"{bad}:refs/heads/{hosted.branch}")
    with pytest.raises(WouldPublish) as why:
        prepared(hosted)
    assert [each.sha for each in why.value.commits] == [bad]
    assert hosted.sandbox.git("rev-parse", f"{prepared(hosted, force=True).commit}^") == base


def test_ignored_files_that_the_agent_committed_stay_when_the_rest_goes_on_top(
    hosted: Desk,
) -> None:
    hosted.write(".gitignore", "built\n")
    hosted.write("built", "1\n")
    hosted.git("add", "-f", "built")
    one = agents(hosted, "one")
    hosted.write("rest", "1\n")
    found = prepared(hosted)
    changed = hosted.sandbox.git("diff", "--name-status", one, found.commit)
    assert changed == "A\trest"


def test_a_step_that_was_gone_back_from_is_said_without_a_commit_too(hosted: Desk) -> None:
    hosted.write("one", "1\n")
    hosted.checkpoint()
    hosted.write("bad", "1\n")
    hosted.checkpoint()
    hosted.rollback(1)
    found = prepared(hosted)
    assert found.gone_back == ()
    assert "| 0002 | gone back from | | |" in found.body


def test_without_its_workspace_a_task_is_as_its_newest_snapshot(hosted: Desk) -> None:
    hosted.write("one", "1\n")
    hosted.checkpoint()
    shutil.rmtree(hosted.root)
    found = prepared(hosted)
    assert "one" in hosted.sandbox.git("ls-tree", "--name-only", found.commit).split()


def test_markers_of_a_merge_that_is_not_ended_are_not_proposed(hosted: Desk) -> None:
    agents(hosted, "hello.txt", "mine\n")
    hosted.git("checkout", "-q", "-b", "theirs", "main")
    agents(hosted, "hello.txt", "theirs\n")
    hosted.git("checkout", "-q", hosted.branch)
    with pytest.raises(AssertionError, match="merge"):
        hosted.git("merge", "-q", "theirs")
    with pytest.raises(Unresolved, match=r"conflict markers left in hello\.txt"):
        prepared(hosted)
    hosted.write("hello.txt", "both\n")
    hosted.git("add", "-A")
    hosted.git("commit", "-q", "-m", "both")
    assert prepared(hosted).commit == hosted.git("rev-parse", "HEAD")


def test_without_gh_it_is_pushed_and_kept(hosted: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pull_request, "find_program", lambda *_: None)
    events: list[Any] = []
    monkeypatch.setattr(hosted.project.events, "emit", events.append)
    hosted.write("one", "1\n")
    done = opened(hosted)
    assert (done.url, done.created, done.page) == (None, False, None)
    record = told(hosted)
    assert record == {
        "branch": hosted.branch,
        "remote": "origin",
        "base": "main",
        "commit": done.prepared.commit,
        "url": None,
        "at": record["at"],
    }
    (event,) = [each for each in events if isinstance(each, PullRequestChanged)]
    assert (event.how, event.pull_request) == ("pushed", record)


@pytest.mark.parametrize(
    ("url", "page"),
    [
        ("git@github.com:ada/repo.git", "ada/repo"),
        ("ssh://git@github.com/ada/repo", "ada/repo"),
        ("https://github.com/ada/repo.git", "ada/repo"),
        ("https://example.org/ada/repo.git", None),
    ],
)
def test_the_page_on_which_a_person_opens_it(
    hosted: Desk, url: str, page: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    hosted.write("one", "1\n")
    hosted.sandbox.git("remote", "set-url", "origin", url)
    pushes(monkeypatch)
    monkeypatch.setattr(pull_request, "find_program", lambda *_: None)
    wanted = page and f"https://github.com/{page}/compare/main...{hosted.branch}?expand=1"
    assert opened(hosted).page == wanted


def pushes(monkeypatch: pytest.MonkeyPatch, stdout: bytes = b"", status: int = 0) -> list[Any]:
    """Have git's pushes end so; return what they are called with."""
    asked: list[Any] = []

    def attached(argv: Sequence[str], **_: object) -> Completed:
        asked.append(list(argv[1:]))
        return Completed(tuple(argv), status, stdout, b"")

    monkeypatch.setattr(pull_request, "run_attached", attached)
    return asked


def test_force_replaces_what_was_pushed_last(hosted: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    hosted.write("one", "1\n")
    asked = pushes(monkeypatch)
    name = f"refs/heads/{hosted.branch}"
    first = opened(hosted, force=True).prepared.commit
    hosted.write("one", "2\n")
    second = opened(hosted).prepared.commit
    third = opened(hosted, force=True).prepared.commit
    other = opened(hosted, force=True, branch="other").prepared.commit
    assert asked == [
        ["push", "--porcelain", f"--force-with-lease={name}", "origin", f"{first}:{name}"],
        ["push", "--porcelain", "origin", f"{second}:{name}"],
        ["push", "--porcelain", f"--force-with-lease={name}:{second}", "origin", f"{third}:{name}"],
        [
            "push",
            "--porcelain",
            "--force-with-lease=refs/heads/other",
            "origin",
            f"{other}:refs/heads/other",
        ],
    ]


@pytest.mark.parametrize(
    ("line", "why", "hint"),
    [
        ("!\ta:b\t[rejected] (non-fast-forward)", r"\[rejected\] \(non-fast-forward\)", "--force"),
        ("!\ta:b\t[rejected] (fetch first)", "fetch first", "--force"),
        ("!\ta:b\t[rejected] (stale info)", "stale info", "--force"),
        ("!\ta:b\t[remote rejected] (hook)", "hook", "git has said above"),
        ("Done", "git push ended with 7", "git has said above"),
    ],
)
def test_a_push_that_is_refused(
    hosted: Desk, line: str, why: str, hint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    hosted.write("one", "1\n")
    found = prepared(hosted)
    pushes(monkeypatch, f"To there\n{line}\n!\tc:d\tsecond\n".encode() if "!" in line else b"x", 7)
    with pytest.raises(
        PushFailed, match=f"origin did not take '{hosted.branch}': .*{why}"
    ) as error:
        push(hosted.project, found, force=False)
    assert hint in (error.value.hint or "")


class Gh:
    """What `gh` answers, and what it was asked: arguments and standard input."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *answers: tuple[int, str, str]) -> None:
        self.asked: list[tuple[list[str], bytes]] = []
        self._answers = list(answers)
        self.pushed = pushes(monkeypatch)
        monkeypatch.setattr(pull_request, "find_program", lambda *_: "/gh")
        monkeypatch.setattr(pull_request, "run_captured", self._run)

    def _run(self, argv: Sequence[str], *, stdin: bytes, env: Any, **_: object) -> Completed:
        assert (env["GH_PROMPT_DISABLED"], env["NO_COLOR"]) == ("1", "1")
        assert "GIT_DIR" not in env
        self.asked.append((list(argv), stdin))
        status, out, err = self._answers.pop(0)
        return Completed(tuple(argv), status, out.encode(), err.encode())


NONE = (1, "", "no pull requests found")


@pytest.mark.parametrize("draft", [False, True])
def test_gh_opens_it(hosted: Desk, monkeypatch: pytest.MonkeyPatch, *, draft: bool) -> None:
    hosted.sandbox.env["GIT_DIR"] = "/nowhere"
    gh = Gh(monkeypatch, NONE, (0, "Creating https://not.this\nhttps://gh/pull/1\nbye\n", ""))
    hosted.write("one", "1\n")
    done = opened(hosted, draft=draft)
    assert (done.url, done.created, done.page) == ("https://gh/pull/1", True, None)
    (view, nothing), (create, body) = gh.asked
    assert view == ["/gh", "pr", "view", hosted.branch, "--json", "url,state"]
    assert nothing == b""
    assert create == [
        *("/gh", "pr", "create", "--head", hosted.branch, "--base", "main", "--title", "work"),
        *("--body-file", "-", *(["--draft"] if draft else [])),
    ]
    assert body.decode() == done.prepared.body
    assert told(hosted)["url"] == "https://gh/pull/1"


def test_one_that_is_open_has_the_new_commits(
    hosted: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = (0, json.dumps({"state": "OPEN", "url": "https://gh/pull/1"}), "")
    Gh(monkeypatch, there)
    hosted.write("one", "1\n")
    done = opened(hosted)
    assert (done.url, done.created) == ("https://gh/pull/1", False)
    Gh(monkeypatch, (0, json.dumps({"state": "OPEN"}), ""))
    assert opened(hosted).url == ""


@pytest.mark.parametrize("said", ["nonsense", "[]", '{"state": "CLOSED", "url": "https://gh/1"}'])
def test_one_that_is_not_known_to_be_open_is_made_anew(
    hosted: Desk, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    gh = Gh(monkeypatch, (0, said, ""), (0, "made\n", ""))
    hosted.write("one", "1\n")
    done = opened(hosted)
    assert (done.url, done.created) == ("", True)
    assert "--draft" not in gh.asked[-1][0]


@pytest.mark.parametrize(("status", "hint"), [(4, "`gh auth login`"), (1, "`siding pr` tries")])
def test_where_gh_fails_it_is_pushed_and_the_address_stays(
    hosted: Desk, status: int, hint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    gh = Gh(monkeypatch, NONE, (0, "https://gh/pull/1", ""), NONE, (status, "", " one\ntwo\n"))
    hosted.write("one", "1\n")
    opened(hosted)
    hosted.write("one", "2\n")
    with pytest.raises(NoPullRequest, match=r"could not open the pull request: one; two$") as why:
        opened(hosted)
    assert (why.value.hint or "").startswith(hint)
    assert told(hosted)["url"] == "https://gh/pull/1"
    assert f"{told(hosted)['commit']}:refs/heads/{hosted.branch}" == gh.pushed[-1][-1]


def test_traps_that_nobody_has_seen_are_not_pushed(
    hosted: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = pushes(monkeypatch)
    hosted.write(".envrc", "true\n")
    found = prepared(hosted)
    assert [each.path for each in found.traps] == [".envrc"]
    assert not found.holds
    monkeypatch.setattr(pull_request, "holds", lambda *_: True)
    assert prepared(hosted).holds
    with pytest.raises(TrapsUnseen) as why:
        opened(hosted)
    assert "nothing was pushed" in (why.value.hint or "")
    assert asked == []
    (hosted.root / ".envrc").unlink()
    hosted.write("one", "1\n")
    assert not prepared(hosted).holds


def test_a_record_of_another_form_is_nothing_that_was_pushed(
    hosted: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    hosted.write("one", "1\n")
    found = prepared(hosted)
    asked = pushes(monkeypatch)
    for record in (None, "x", {"remote": "origin", "branch": hosted.branch, "commit": "ä"}):
        task = found.task._replace(metadata={"pull_request": record})
        push(hosted.project, found._replace(task=task), force=True)
    assert [each[2] for each in asked] == [f"--force-with-lease=refs/heads/{hosted.branch}"] * 3

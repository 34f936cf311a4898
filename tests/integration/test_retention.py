"""`siding gc --older` frees snapshots: what stays is whole, what went says so everywhere."""

import hashlib
import json
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from integration.test_many_runs import UNTIL_GO, living, wait_until
from prepared import prepared
from sandbox import SIDING, Sandbox
from siding.ground.storage.locks import FileLock
from siding.record.ledger.anchor import Anchor
from siding.record.ledger.store import link
from siding.record.place.project import find_project
from siding.record.place.wiring import open_app
from siding.tasks.freeing import holding_everything
from terminal import Terminal

AGE = "1s"  # every step of these tests is older than that when it is looked at
FREED = "its snapshot was freed by `siding gc` on "


def _work(sandbox: Sandbox) -> None:
    """A task with steps 1, 2 and 5 on its line; 3 and 4 are left behind."""
    sandbox.siding("-q", "task", "start", "main")
    for number in (1, 2, 3):
        write(sandbox, f"file{number}", f"{number}\n" * 2000)
    sandbox.siding("-q", "rollback", "--step", "2")  # step 4
    write(sandbox, "after", "after\n")
    time.sleep(1.2)


@pytest.fixture
def sandbox() -> Sandbox:
    return prepared(_work)


def write(sandbox: Sandbox, name: str, text: str, *words: str) -> None:
    script = 'printf %s "$1" >"$2"'
    sandbox.siding("-q", "run", *words, "--", "sh", "-c", script, "sh", text, name)


def tree(root: Path) -> dict[str, bytes]:
    found = {}
    for path in sorted(root.rglob("*")):
        if path.is_file() and path.name != ".git":
            found[str(path.relative_to(root))] = path.read_bytes()
    return found


def free(sandbox: Sandbox, *words: str) -> dict[str, list[str]]:
    """Free, and return the steps that went, by the name of their task."""
    report = sandbox.json("gc", "--json", "--yes", "--older", AGE, *words)
    assert (report["snapshots"]["freed"] or {}).get("failed") is None, report
    names = {each["id"]: each["name"] for each in report["tasks"]}
    return {names[each["id"]]: each["steps"] for each in report["snapshots"]["would_free"]}


def objects(sandbox: Sandbox) -> set[str]:
    store = sandbox.project / "snapshots.git"
    listed = ["cat-file", "--batch-all-objects", "--batch-check=%(objectname)"]
    return set(sandbox.git(f"--git-dir={store}", *listed).split())


def blob(text: str) -> str:
    done = subprocess.run(
        ["git", "hash-object", "--stdin"], input=text.encode(), capture_output=True, check=True
    )
    return done.stdout.decode().strip()


def test_what_was_left_behind_goes_and_the_line_stays(sandbox: Sandbox) -> None:
    assert blob("3\n" * 2000) in objects(sandbox)
    here = tree(sandbox.workspace())
    assert free(sandbox) == {"main": ["0003"]}
    assert blob("3\n" * 2000) not in objects(sandbox)
    said = sandbox.siding("verify").stdout.decode()
    assert "is whole" in said
    assert "1 freed by `siding gc`" in said
    sandbox.siding("-q", "rollback", "--step", "1")
    assert tree(sandbox.workspace()).keys() == {"hello.txt", "src/a.py", "file1"}
    sandbox.siding("-q", "undo")
    assert tree(sandbox.workspace()) == here
    assert sandbox.siding("doctor", "--check").stdout == b"everything agrees\n"


def test_what_needs_a_freed_state_says_that_it_is_freed(sandbox: Sandbox) -> None:
    free(sandbox)
    for words in (
        ("rollback", "--step", "3"),
        ("rollback", "--step", "3", "--dry-run"),
        ("rollback", "--step", "3", "src"),
        ("diff", "--from", "3", "--to", "5"),
        ("diff", "--from", "1", "--to", "3"),
        ("apply", "--steps", "3", "--no-close"),
        ("task", "start", "other", "--from", "main@3"),
    ):
        done = sandbox.siding(*words, status=1)
        assert FREED.encode() in done.stderr, (words, done.stderr)
        assert b"damaged" not in done.stderr, words
    assert FREED in sandbox.siding("show", "3").stdout.decode()
    assert FREED not in sandbox.siding("show", "2").stdout.decode()
    assert "(freed)" in sandbox.siding("log").stdout.decode()
    steps = {each["step_id"]: each for each in sandbox.json("log", "--format", "json")}
    assert [key for key, each in steps.items() if "snapshot_freed" in each] == ["0003"]
    assert "snapshot_freed" in sandbox.json("show", "3", "--format", "json")


def test_what_a_freed_step_changed_and_printed_is_kept(sandbox: Sandbox) -> None:
    change, output = sandbox.siding("diff", "3").stdout, sandbox.siding("show", "3", "--raw").stdout
    free(sandbox)
    kept = sandbox.siding("diff", "3").stdout
    assert kept.splitlines()[-2000:] == change.splitlines()[-2000:]
    assert sandbox.siding("show", "3", "--raw").stdout == output


def test_without_a_yes_nothing_is_freed_and_all_is_shown(sandbox: Sandbox) -> None:
    before = objects(sandbox)
    shown = sandbox.siding("gc", "--older", AGE, "--dry-run").stdout.decode()
    assert "main: snapshots of 1 step (0003), about " in shown
    done = sandbox.siding("gc", "--older", AGE, status=1)
    assert b"--yes" in done.stderr
    assert b"snapshots of 1 step (0003)" in done.stdout
    sandbox.siding("gc", "--older", AGE, "--json", status=1)
    assert objects(sandbox) == before
    assert not (sandbox.project / "freed.jsonl").exists()


def test_without_older_no_snapshot_is_freed(sandbox: Sandbox) -> None:
    before = objects(sandbox)
    sandbox.siding("gc", "--yes")
    assert objects(sandbox) == before


def test_what_is_younger_stays_with_the_states_that_it_names(sandbox: Sandbox) -> None:
    sandbox.siding("-q", "rollback", "--step", "3")  # step 6, younger than what it goes to
    report = sandbox.json("gc", "--json", "--dry-run", "--older", AGE)
    assert report["snapshots"]["would_free"] == []
    sandbox.siding("gc", "--older", "1h", "--yes")
    assert not (sandbox.project / "freed.jsonl").exists()


def test_a_closed_task_keeps_its_newest_state_and_reopens(sandbox: Sandbox) -> None:
    here = tree(sandbox.workspace())
    sandbox.siding("-q", "task", "close", "--force")
    assert free(sandbox) == {"main": ["0001", "0002", "0003", "0004"]}
    sandbox.siding("-q", "task", "reopen", "main")
    assert tree(sandbox.workspace()) == here
    assert "is whole" in sandbox.siding("verify").stdout.decode()
    assert FREED.encode() in sandbox.siding("undo", "--force", status=None).stderr


def test_the_base_and_what_was_applied_stay(sandbox: Sandbox) -> None:
    sandbox.siding("-q", "apply", "--no-close")
    applied = tree(sandbox.workspace())
    write(sandbox, "later", "later\n")
    write(sandbox, "later", "and later\n")
    time.sleep(1.2)
    sandbox.siding("-q", "task", "close", "--force")
    gone = free(sandbox)["main"]
    assert {"0005", "0006"}.isdisjoint(gone)  # 6 is the apply of 5's state
    assert "0007" in gone
    sandbox.siding("-q", "task", "reopen", "main")
    sandbox.siding("-q", "rollback", "--step", "6")
    assert tree(sandbox.workspace()) == applied
    sandbox.siding("-q", "rollback", "--base")
    assert tree(sandbox.workspace()) == tree_of_commit(sandbox)


def tree_of_commit(sandbox: Sandbox) -> dict[str, bytes]:
    first = sandbox.git("rev-list", "--max-parents=0", "HEAD")
    names = sandbox.git("ls-tree", "-r", "--name-only", first).splitlines()
    return {name: (sandbox.git("show", f"{first}:{name}") + "\n").encode() for name in names}


def test_what_two_tasks_share_stays_for_the_one_that_needs_it(sandbox: Sandbox) -> None:
    sandbox.siding("-q", "task", "start", "other", "--from", "main@3")
    sandbox.siding("-q", "task", "close", "main", "--force")
    free(sandbox)
    assert (sandbox.workspace("other") / "file3").read_text() == "3\n" * 2000
    for task in ("main", "other"):
        assert "is whole" in sandbox.siding("verify", task).stdout.decode()
    write(sandbox, "file3", "", "-t", "other")
    sandbox.siding("-q", "rollback", "-t", "other", "--step", "1")
    assert (sandbox.workspace("other") / "file3").read_text() == "3\n" * 2000


@pytest.mark.parametrize("archived", [False, True])
def test_a_deleted_task_is_thinned_and_comes_back(sandbox: Sandbox, archived: bool) -> None:
    here = tree(sandbox.workspace())
    sandbox.siding("-q", "task", "close", "--force", "--delete")
    if archived:
        sandbox.siding("-q", "gc")
    assert free(sandbox)["main"] == ["0001", "0002", "0003", "0004"]
    sandbox.siding("-q", "task", "reopen", "main")
    assert tree(sandbox.workspace()) == here
    assert "4 freed by `siding gc`" in sandbox.siding("verify").stdout.decode()


def test_a_checkpoint_of_a_person_stays_and_one_of_siding_goes(sandbox: Sandbox) -> None:
    (sandbox.workspace() / "asked").write_text("asked\n")
    sandbox.siding("-q", "checkpoint", "-m", "keep this")  # 6
    (sandbox.workspace() / "by hand").write_text("by hand\n")
    write(sandbox, "by hand", "by a run\n")  # 7 by hand, 8
    time.sleep(1.2)
    assert free(sandbox)["main"] == ["0003", "0007"]
    sandbox.siding("-q", "rollback", "--step", "6")
    assert not (sandbox.workspace() / "by hand").exists()


def test_commits_of_the_agent_stay_whole(sandbox: Sandbox) -> None:
    commit = "echo committed >c; git add -A; git commit -qm made"
    sandbox.siding("-q", "run", "--", "sh", "-c", commit)
    sandbox.siding("-q", "rollback", "--step", "5")
    time.sleep(1.2)
    free(sandbox)
    assert "is whole" in sandbox.siding("verify").stdout.decode()
    sandbox.git("reflog", "expire", "--expire=now", "--all", cwd=sandbox.workspace())
    sandbox.git("gc", "-q", "--prune=now")
    sandbox.siding("-q", "rollback", "--step", "6")
    assert (sandbox.workspace() / "c").read_text() == "committed\n"


def test_work_goes_on_after_a_freeing(sandbox: Sandbox) -> None:
    """What a step brings back that had been freed is stored anew."""
    free(sandbox)
    write(sandbox, "file3", "3\n" * 2000)
    sandbox.siding("-q", "run", "--", "sh", "-c", "git add -A; git commit -qm all; rm file3")
    assert "is whole" in sandbox.siding("verify").stdout.decode()
    sandbox.siding("-q", "undo")
    assert (sandbox.workspace() / "file3").read_text() == "3\n" * 2000
    time.sleep(1.2)
    free(sandbox)
    assert "is whole" in sandbox.siding("verify").stdout.decode()


def test_a_task_in_which_a_run_lives_is_passed_over_and_the_others_are_freed(
    sandbox: Sandbox,
) -> None:
    own = objects(sandbox)
    sandbox.siding("-q", "task", "start", "other")
    write(sandbox, "shared", "1\n" * 2000)  # as the first step of `main`
    write(sandbox, "lost", "lost\n" * 2000)
    sandbox.siding("-q", "rollback", "--step", "1")
    sandbox.siding("-q", "switch", "main")
    time.sleep(1.2)
    with living(sandbox, "--", "sh", "-c", "touch ready; " + UNTIL_GO):
        wait_until(sandbox, "ready")
        shown = sandbox.siding("gc", "--older", AGE, "--yes")
        assert b"of task" in shown.stderr
        assert b"stay while it works: run r5 " in shown.stderr
        assert objects(sandbox) >= own
        assert blob("lost\n" * 2000) not in objects(sandbox)
        main = next(t["id"] for t in tasks(sandbox) if t["name"] == "main")
        report = sandbox.json("gc", "--json", "--yes", "--older", AGE)
        assert report["snapshots"]["passed_over"] == [main]
        sandbox.siding("checkpoint")
        (sandbox.workspace() / "go").touch()
    for name in ("main", "other"):
        assert "is whole" in sandbox.siding("verify", name).stdout.decode()
    sandbox.siding("rollback", "--step", "3")
    assert (sandbox.workspace() / "file3").read_text() == "3\n" * 2000


def test_a_run_without_a_record_is_passed_over_as_well(sandbox: Sandbox) -> None:
    before = objects(sandbox)
    with living(sandbox, "--no-record", "--", "sh", "-c", "touch ready; " + UNTIL_GO):
        wait_until(sandbox, "ready")
        assert free(sandbox) == {}
    assert objects(sandbox) >= before
    assert not (sandbox.project / "freed.jsonl").exists()


def test_while_a_task_is_held_nothing_is_freed(sandbox: Sandbox) -> None:
    before = objects(sandbox)
    [task] = tasks(sandbox)
    with FileLock(sandbox.project / "tasks" / task["id"] / "lock"):
        done = sandbox.siding("gc", "--older", AGE, "--yes", status=1)
    assert b"another command holds it; nothing was freed" in done.stderr
    assert objects(sandbox) >= before
    assert not (sandbox.project / "freed.jsonl").exists()


def tasks(sandbox: Sandbox) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = sandbox.json("task", "list", "--all", "--format", "json")
    return found


def test_while_snapshots_are_freed_nobody_records(sandbox: Sandbox) -> None:
    project = find_project(open_app(env=sandbox.env, cwd=sandbox.repo))
    assert project is not None
    with holding_everything(project):
        done = sandbox.siding("rollback", "--base", status=1)
        assert b"gc --older" in done.stderr
        with pytest.raises(TimeoutError):  # a run waits until it can be recorded
            sandbox.siding("run", "--", "true", timeout=1)
        assert sandbox.siding("log").stdout
    sandbox.siding("run", "--", "true")


@pytest.fixture
def freed(sandbox: Sandbox) -> Sandbox:
    free(sandbox)
    return sandbox


def test_a_missing_object_of_what_stays_is_found(freed: Sandbox) -> None:
    """Only the freed step's own objects are not looked for."""
    lose(freed, blob("2\n" * 2000))
    assert b"not whole" in freed.siding("verify", status=1).stdout


def test_half_a_pack_that_a_freeing_left_is_removed(sandbox: Sandbox) -> None:
    sandbox.siding("gc")
    (pack,) = (sandbox.project / "snapshots.git/objects/pack").glob("*.pack")
    left = pack.with_name(f"pack-{'0' * 40}.pack")
    left.write_bytes(pack.read_bytes())
    free(sandbox)
    assert not left.exists()


def test_doctor_does_not_take_a_freed_step_for_a_lost_one(freed: Sandbox) -> None:
    store = freed.project / "snapshots.git"
    snapshot = freed.json("show", "5", "--format", "json")["snapshot"]
    lose(freed, freed.git(f"--git-dir={store}", "rev-parse", f"{snapshot}^{{tree}}"))
    said = freed.siding("doctor", "--check", status=1).stdout
    assert b"step 0005 can no longer be gone back to" in said


def lose(sandbox: Sandbox, sha: str) -> None:
    """Write the store's only pack again without one object."""
    store = sandbox.project / "snapshots.git"
    (pack,) = (store / "objects/pack").glob("*.pack")
    kept = "\n".join(sorted(objects(sandbox) - {sha})).encode()
    aside = sandbox.directory / "aside"
    subprocess.run(
        ["git", f"--git-dir={store}", "pack-objects", "-q", str(aside)],
        input=kept,
        stdout=subprocess.DEVNULL,
        check=True,
        env=sandbox.env,
    )
    for path in (store / "objects/pack").iterdir():
        path.unlink()
    for path in sandbox.directory.glob("aside-*"):
        path.rename(pack.parent / path.name.replace("aside", "pack"))


def record_of(sandbox: Sandbox) -> dict[str, Any]:
    first = (sandbox.project / "freed.jsonl").read_text().splitlines()[0]
    found = json.loads(first)
    assert isinstance(found, dict)
    return found


def test_a_journal_that_was_changed_is_found(freed: Sandbox) -> None:
    journal = freed.project / "freed.jsonl"
    before = journal.read_bytes()
    for changed in (
        before.replace(b'"0003"', b'"0002"'),
        before.splitlines(keepends=True)[0],
        b"",
        before + b'{"op":"free"}\n' + before,
    ):
        journal.write_bytes(changed)
        assert b"is damaged" in freed.siding("verify", status=1).stdout, changed
    journal.write_bytes(before)
    assert b"is whole" in freed.siding("verify").stdout


def test_a_forged_journal_makes_nothing_go(freed: Sandbox) -> None:
    """Not the newest state, even if the journal and its anchor say that it was freed."""
    here = tree(freed.workspace())
    snapshot = freed.json("show", "5", "--format", "json")["snapshot"]
    rewrite(freed, {snapshot: ["0005"]})
    freed.siding("gc", "--older", AGE, "--yes", status=None)
    freed.siding("-q", "run", "--", "sh", "-c", "rm -r *")
    (freed.project / "freed.jsonl").unlink()
    (freed.project / "snapshots.git/freed-head").unlink()
    freed.siding("-q", "undo")
    assert tree(freed.workspace()) == here


def test_a_line_that_was_added_hides_no_loss(freed: Sandbox) -> None:
    """A freeing that is not anchored has not begun, so it excuses nothing."""
    snapshot = freed.json("show", "1", "--format", "json")["snapshot"]
    line = record_of(freed)
    line["id"] = "0" * 12
    line["tasks"][0]["steps"] = {snapshot: ["0001"]}
    journal = freed.project / "freed.jsonl"
    line["prev"] = hashlib.sha256(journal.read_bytes().splitlines()[-1]).hexdigest()
    with journal.open("ab") as file:
        file.write(json.dumps(line).encode() + b"\n")
    assert b"is whole" in freed.siding("verify").stdout
    store = freed.project / "snapshots.git"
    lose(freed, freed.git(f"--git-dir={store}", "rev-parse", f"{snapshot}^{{tree}}"))
    assert b"not whole" in freed.siding("verify", status=1).stdout


def test_no_journal_can_say_that_the_newest_state_was_freed(freed: Sandbox) -> None:
    """Not even one with an anchor that fits: the rule is checked against the ledger."""
    snapshot = freed.json("show", "5", "--format", "json")["snapshot"]
    rewrite(freed, {snapshot: ["0005"]})
    said = freed.siding("verify", status=1).stdout
    assert b"says that step 0005 was freed, which is never freed" in said


def rewrite(sandbox: Sandbox, steps: dict[str, list[str]]) -> None:
    """Forge a journal of one freeing, and its anchor."""
    line = {**record_of(sandbox), "prev": "0" * 64}
    line["tasks"][0]["steps"] = steps
    raw = json.dumps(line).encode()
    (sandbox.project / "freed.jsonl").write_bytes(raw + b"\n")
    anchor = Anchor(1, len(raw) + 1, link(raw)).encoded()
    (sandbox.project / "snapshots.git/freed-head").write_bytes(anchor)


def test_a_damaged_store_is_not_thinned(sandbox: Sandbox) -> None:
    sandbox.siding("gc")  # one pack
    lose(sandbox, blob("2\n" * 2000))
    before = objects(sandbox)
    done = sandbox.siding("gc", "--older", AGE, "--yes", status=1)
    assert b"not freed" in done.stderr
    assert objects(sandbox) == before
    assert not (sandbox.project / "freed.jsonl").exists()


def test_where_a_commit_is_lost_nothing_is_freed_and_the_rest_goes_on(sandbox: Sandbox) -> None:
    sandbox.siding("-q", "task", "start", "closed")
    for text in ("one\n", "two\n"):
        write(sandbox, "file", text)
    sandbox.siding("-q", "task", "close", "--force", "closed")
    time.sleep(1.2)
    sandbox.siding("gc", "--budget", "1GiB")  # one pack
    lose(sandbox, sandbox.json("show", "1", "-t", "main", "--format", "json")["snapshot"])
    before = objects(sandbox)
    done = sandbox.siding("gc", "--older", AGE, "--yes", status=1)
    assert b"no snapshots can be freed" in done.stderr
    assert objects(sandbox) >= before
    assert not (sandbox.project / "freed.jsonl").exists()


def test_a_task_whose_record_is_not_whole_is_left_alone(sandbox: Sandbox) -> None:
    (ledger,) = sandbox.project.glob("tasks/*/ledger.jsonl")
    ledger.write_bytes(ledger.read_bytes().replace(b"file1", b"file9"))
    report = sandbox.json("gc", "--older", AGE, "--yes", "--json")
    assert report["snapshots"]["would_free"] == []
    assert len(report["snapshots"]["left_alone"]) == 1


@pytest.mark.parametrize(("answer", "status"), [(b"n\n", 1), (b"y\n", 0)])
def test_a_person_is_asked(sandbox: Sandbox, answer: bytes, status: int) -> None:
    terminal = Terminal([*SIDING, "gc", "--older", AGE], env=sandbox.env, cwd=sandbox.repo)
    terminal.wait_for(b"for good? [y/N]")
    terminal.type(answer)
    assert terminal.finish() == status
    assert (sandbox.project / "freed.jsonl").exists() is (status == 0)

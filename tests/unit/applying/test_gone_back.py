"""What rollbacks went back from: which commits and steps, and how it is said."""

import pytest

from integration.undo.desk import Desk
from siding.applying.git.commits import RawCommit
from siding.applying.rolled_back_commits import (
    NOTHING,
    WouldPublish,
    described,
    gone_back,
    named,
    way_out,
)
from siding.ground.git import objects
from siding.ground.ids import Sha

from .ledgers import Told


def commits(desk: Desk, *names: str) -> list[Sha]:
    found = []
    for name in names:
        desk.write(name, "1\n")
        desk.git("add", "-A")
        desk.git("commit", "-q", "-m", name)
        found.append(Sha(desk.git("rev-parse", "HEAD")))
    return found


def test_nothing_was_gone_back_from(told: Told) -> None:
    with told.sources() as sources:
        assert gone_back(sources, [told.main]) == NOTHING
    (one,) = commits(told.desk, "one")
    told.desk.checkpoint()
    with told.sources() as sources:
        assert gone_back(sources, [one]) == NOTHING


def test_the_commits_and_the_steps(told: Told) -> None:
    desk = told.desk
    (good,) = commits(desk, "good")
    desk.checkpoint()
    bad = commits(desk, "bad1", "bad2")
    desk.checkpoint()
    told.desk.rollback(1, files_only=True)
    (last,) = commits(desk, "last")
    desk.checkpoint()
    with told.sources() as sources:
        found = gone_back(sources, [last])
        assert found.commits == set(bad)
        assert found.steps == {2}
        assert set(found.graph) == {good, *bad, last}
        assert found.behind(last) == set(bad)
        assert found.behind(bad[0]) == {bad[0]}
        assert found.behind(good) == frozenset()
        assert [each.subject for each in described(sources.bench, found, bad)] == ["bad1", "bad2"]
        assert way_out(sources, found, last) == f"`git -C {desk.root} reset {good[:12]}`"
        assert gone_back(sources, [told.main]) == NOTHING
        assert gone_back(sources, [told.main, last]).commits == set(bad)
        told.run(commits=[bad[0]], snapshot=None)
        told.run(commits=[good], snapshot="12" * 20)
        again = gone_back(sources, [last])
        assert again.commits == set(bad)
        assert again.steps == {2, 5}


def test_going_back_to_the_base_leaves_all_behind(told: Told) -> None:
    desk = told.desk
    bad = commits(desk, "bad1", "bad2")
    desk.checkpoint()
    desk.rollback(None, files_only=True)
    (last,) = commits(desk, "last")
    with told.sources() as sources:
        found = gone_back(sources, [last])
        assert found.commits == set(bad)
        assert found.steps == {1}
        assert way_out(sources, found, last) == f"`git -C {desk.root} reset {told.main[:12]}`"


def test_a_head_that_is_gone_is_not_asked_about(told: Told) -> None:
    desk = told.desk
    bad = commits(desk, "bad")
    desk.checkpoint()
    desk.rollback(None, files_only=True)
    (last,) = commits(desk, "last")
    store = desk.project.snapshots
    step = desk.checkpoint()
    body = objects.commit_body(store.read_commit(Sha(str(step.snapshot))), at=1)
    lost = objects.write_object(
        store.objects, "commit", body.replace(last.encode(), b"12" * 20), "sha1"
    )
    told.run(snapshot=lost)
    with told.sources() as sources:
        assert gone_back(sources, [last]).commits == set(bad)


@pytest.mark.parametrize(
    ("count", "more"), [(1, ""), (5, ""), (6, " and 1 more"), (8, " and 3 more")]
)
def test_the_first_five_are_named(count: int, more: str) -> None:
    made = [
        RawCommit(Sha(f"{n}" * 40), Sha(""), (), b"", b"", f"number {n}\n\nmore".encode())
        for n in range(count)
    ]
    text = ", ".join(f"{f'{n}' * 10} 'number {n}'" for n in range(min(count, 5))) + more
    assert named(made) == text
    error = WouldPublish("why", made, hint="what to do")
    assert (str(error), error.commits, error.hint) == (f"why: {text}", tuple(made), "what to do")

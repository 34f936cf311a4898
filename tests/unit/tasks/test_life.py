"""What a workspace begins with, and what `gc` would free."""

from integration.undo.desk import Desk
from sandbox import Sandbox
from siding.tasks.start import StartRequest, start
from siding.tasks.startcard import LISTED


def test_the_start_card_says_what_the_workspace_lacks(sandbox: Sandbox) -> None:
    desk = Desk(sandbox)
    (sandbox.repo / "hello.txt").write_text("mine\n")
    (sandbox.repo / ".gitignore").write_text(".env\nnode_modules/\n")
    (sandbox.repo / ".env").write_text("A=1\n")
    (sandbox.repo / "node_modules").mkdir()
    (sandbox.repo / "node_modules" / "x.js").write_text("1\n")
    card = start(desk.project, StartRequest(name="other")).card
    assert card is not None
    assert (card.left_out, card.left_out_count) == ((".gitignore", "hello.txt"), 2)
    assert (card.missing, card.missing_count) == ((".env", "node_modules/"), 2)
    assert card.base_commit == sandbox.git("rev-parse", "HEAD")
    assert (card.base_subject, card.carried, card.included) == ("first", False, ())


def test_what_is_carried_or_included_is_not_lacking(sandbox: Sandbox) -> None:
    desk = Desk(sandbox)
    (sandbox.repo / ".worktreeinclude").write_text(".env\n")
    (sandbox.repo / ".gitignore").write_text(".env\n")
    (sandbox.repo / ".env").write_text("A=1\n")
    started = start(desk.project, StartRequest(name="other", carry=True))
    assert started.card is not None
    assert (started.card.left_out_count, started.card.carried) == (0, True)
    assert (started.card.included, started.card.missing_count) == ((".env",), 0)


def test_a_card_lists_some_names_and_counts_all(sandbox: Sandbox) -> None:
    desk = Desk(sandbox)
    for number in range(LISTED + 3):
        (sandbox.repo / f"new{number:03}").write_text("x\n")
    card = start(desk.project, StartRequest(name="other")).card
    assert card is not None
    assert (len(card.left_out), card.left_out_count) == (LISTED, LISTED + 3)


def test_gc_chooses_closed_tasks_only(desk: Desk) -> None:
    desk.write("large", b"x" * 200_000)
    assert desk.gc(dry_run=True).chosen == ()
    desk.close()
    report = desk.gc(dry_run=True)
    (use,) = report.chosen
    assert (use.id, use.state, use.workspace) == (desk.task.id, "closed", 0)
    assert use.trash > 200_000
    assert report.done == ()
    assert desk.gc(dry_run=True, budget=10**9).chosen == (), "what fits into the budget stays"


def test_gc_frees_what_it_said_and_only_once(desk: Desk) -> None:
    desk.write("large", b"x" * 200_000)
    desk.close()
    (freed,) = desk.gc().done
    assert (freed.task.id, freed.failed) == (desk.task.id, None)
    assert freed.archive is not None
    assert freed.archive.is_file()
    assert desk.gc(dry_run=True).chosen == ()

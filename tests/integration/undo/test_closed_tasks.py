"""Acts in a task that was closed with its workspace kept, taken back in the order they came."""

from sandbox import Sandbox


def test_in_a_closed_task_the_newest_act_is_undone_first(sandbox: Sandbox) -> None:
    """The rollback after the closing, then the closing; a redo closes it and goes back again."""
    sandbox.siding("-q", "task", "start", "x")
    for text in ("one", "two"):
        sandbox.siding("-q", "run", "--no-tty", "--", "sh", "-c", f"echo {text} >f")
    root = sandbox.workspace("x")
    sandbox.siding("task", "close", "x", "--keep")

    def now() -> tuple[str, str]:
        return (root / "f").read_text().strip(), sandbox.json(
            "task", "show", "x", "--format", "json"
        )["status"]

    sandbox.siding("rollback", "-t", "x", "--step", "1")
    assert now() == ("one", "closed")
    ways = [("undo", ("two", "closed")), ("undo", ("two", "active"))]
    back = [("redo", ("two", "closed")), ("redo", ("one", "closed"))]
    for word, expected in (*ways, *back, *ways, *back, *ways):
        sandbox.siding(word, "-t", "x")
        assert now() == expected, word
    sandbox.siding("undo", "-t", "x")  # and the acts before the closing
    assert now() == ("one", "active")
    assert sandbox.siding("doctor").stdout == b"everything agrees\n"

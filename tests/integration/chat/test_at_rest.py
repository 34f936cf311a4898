"""An idle conversation rests: its run is not counted as work, and nobody waits for its end."""

from integration.chat.talks import Conversation


def test_an_idle_conversation_is_no_run_at_work(talk: Conversation) -> None:
    talk.begin(talk.busy)
    talk.until_text("at work")
    assert " r1" in talk.sandbox.siding("status", "--short").stdout.decode()
    talk.go.touch()
    talk.recorded(1)
    talk.until(lambda: talk.row["state"] == "idle")
    assert " r1" not in talk.sandbox.siding("status", "--short").stdout.decode()


def test_an_undo_waits_for_the_turn_and_not_for_the_end_of_the_agent(talk: Conversation) -> None:
    talk.begin("edit one.txt one")
    talk.until(lambda: talk.events("put"))
    talk.says("answer", "--yes")
    talk.recorded(1)
    talk.until(lambda: talk.row["state"] == "idle")
    talk.sandbox.siding("undo", "--wait", timeout=60)
    assert not (talk.sandbox.workspace() / "one.txt").exists()
    assert talk.row["state"] == "idle"
    talk.sandbox.siding("redo", "--wait", timeout=60)
    assert (talk.sandbox.workspace() / "one.txt").exists()


def test_an_edit_that_was_asked_for_is_shown_once_by_its_path_in_the_workspace(
    talk: Conversation,
) -> None:
    path = "one.txt"
    talk.begin("say hello")
    talk.turns(1)
    whole = talk.sandbox.workspace() / path
    talk.says("send", f"edit {whole} first")
    talk.until(lambda: talk.events("put"))
    talk.says("answer", "--yes")
    talk.turns(2)
    shown = talk.says("show").splitlines()
    assert shown.count(f"  {path}") == 1
    assert [line.strip() for line in shown].count("+first") == 1

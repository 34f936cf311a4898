"""The reasons why a state is not restored: each is raised, with the facts that its words need."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import siding
from siding.ground.errors import NotFound, UsageError
from siding.record.restoring.refusal import Reason, Refusal, Row

SOURCE = Path(siding.__file__).parent


def _calls() -> Iterator[tuple[str, ast.Call]]:
    """Yield each call with a reason as its first argument, and the reason's name."""
    for path in SOURCE.rglob("*.py"):
        text = path.read_text("utf-8")
        if "restoring.refusal import" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call):  # `Refusal(Reason.X)` and `Reason.X.words()`
                first = ast.unparse(node.args[0]) if node.args else ast.unparse(node.func)
                if found := re.match(r"Reason\.([A-Z_]+)", first):
                    yield found[1], node


def _fields(*texts: str | None) -> set[str]:
    return {name for text in texts if text for _, name, _, _ in Formatter().parse(text) if name}


def test_each_reason_is_raised_with_the_facts_of_its_words() -> None:
    raised: set[str] = set()
    for name, call in _calls():
        row = Reason[name].value
        facts = {str(each.arg) for each in call.keywords} - {"on_page"}
        only_words = isinstance(call.func, ast.Attribute)
        wanted = _fields(row.message) if only_words else _fields(row.message, row.way_out)
        assert facts == wanted, f"{name}, line {call.lineno}: {ast.unparse(call)}"
        raised |= set() if only_words else {name}
    chosen = {"NOTHING_TO_UNDO", "NOTHING_TO_REDO"}  # `reason` in `undo/preview.py`
    assert raised | chosen == set(Reason.__members__)


def test_no_two_reasons_are_one() -> None:
    assert len(Reason) == len(Reason.__members__)
    assert all(isinstance(each.value, Row) for each in Reason)


def test_a_refusal_says_why_and_what_to_do() -> None:
    refused = Refusal(
        Reason.BRANCH_MOVED_ON, branch="m", at="nothing", step="0002", commit="abc{}def"
    )
    assert refused.message == "branch 'm' is at nothing now, not where step 0002 belongs (abc{}def)"
    assert str(refused) == refused.message
    assert refused.hint is not None
    assert refused.hint.startswith("what came after it would be lost;")
    assert (refused.code, refused.exit_code, refused.reason.asks) == ("cannot_undo", 1, False)


def test_what_makes_no_sense_has_the_status_of_a_mistake_in_the_command() -> None:
    refused = Refusal(Reason.NO_COMMAND, step="0003", kind="rollback", number=3)
    assert (
        (refused.code, refused.exit_code) == (UsageError.code, UsageError.exit_code) == ("usage", 2)
    )
    assert refused.hint == "siding retry 3 -- COMMAND"
    assert Refusal(Reason.NO_RUN, task="t").code == NotFound.code == "not_found"


def test_on_a_page_no_way_out_is_a_command() -> None:
    assert Refusal(Reason.NOTHING_TO_UNDO, on_page=True, task="t").hint is None
    assert Refusal(Reason.NOTHING_TO_UNDO, task="t").hint is not None
    closed = Refusal(Reason.TASK_IS_CLOSED, on_page=True, task="t")
    assert closed.hint == "undo opens it again"
    assert Refusal(Reason.FILES_CHANGING, on_page=True, paths="a").hint is not None


def test_a_yes_is_enough_where_consent_is_asked() -> None:
    asking = {each for each in Reason if each.value.code == "needs_consent"}
    assert (
        {each for each in Reason if each.asks}
        == asking
        == {Reason.CHANGED_SINCE, Reason.INCOMPLETE}
    )

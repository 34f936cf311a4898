"""The reasons why a state is not restored: each is raised, with the facts that its words need."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import siding
from siding.ground.errors import NotFound, UsageError
from siding.record.restoring.refusal import REASONS_OF, Reason, Refusal, Row

SOURCE = Path(siding.__file__).parent
# Each act that restores a state, and the verbs that carry it out.
ACTS = {
    "RollbackAct": {"rollback", "rewind"},
    "ReverseAct": {"undo", "redo"},
    "BackToBefore": {"retry"},
    "SyncAct": {"sync"},
    "MergeAct": {"apply --resolve"},
    "GiveUpMerge": {"apply --abort"},
    "BringBackAct": {"task bring-back"},
    "TakeStateAct": {"fork"},
}
# The files of one verb's or of two verbs' own reasons.
RAISED_FOR = {
    "undo/undo.py": {"undo", "redo"},
    "undo/preview.py": {"undo", "redo"},
    "undo/retry.py": {"retry"},
    "undo/rewind.py": {"rewind"},
    "applying/reversal.py": {"undo", "redo"},
    "record/restoring/rollback.py": {"rollback", "rewind", "fork"},
}
OF_ANY_ACT = {Reason.IN_THE_WAY, Reason.CANNOT_MOVE, Reason.FILES_CHANGING}
OF_ALL_PARTS = {Reason.GIT_CHANGING, Reason.HEAD_HELD}


def _using(imported: str) -> Iterator[tuple[str, ast.Module]]:
    """Yield each module that imports from `imported`, with its path."""
    for path in SOURCE.rglob("*.py"):
        text = path.read_text("utf-8")
        if f"{imported} import" in text:
            yield path.relative_to(SOURCE).as_posix(), ast.parse(text)


def _calls() -> Iterator[tuple[str, str, ast.Call]]:
    """Yield each call with a reason as its first argument, its file, and the reason's name."""
    for place, module in _using("restoring.refusal"):
        for node in ast.walk(module):
            if isinstance(node, ast.Call):  # `Refusal(Reason.X)` and `Reason.X.words()`
                first = ast.unparse(node.args[0]) if node.args else ast.unparse(node.func)
                if found := re.match(r"Reason\.([A-Z_]+)", first):
                    yield place, found[1], node


def _restores(node: ast.ClassDef) -> bool:
    return any(ast.unparse(base).startswith("RestoreAct[") for base in node.bases)


def _fields(*texts: str | None) -> set[str]:
    return {name for text in texts if text for _, name, _, _ in Formatter().parse(text) if name}


def test_each_reason_is_raised_with_the_facts_of_its_words() -> None:
    raised: set[str] = set()
    for _place, name, call in _calls():
        row = Reason[name].value
        facts = {str(each.arg) for each in call.keywords} - {"on_page"}
        only_words = isinstance(call.func, ast.Attribute)
        wanted = _fields(row.message) if only_words else _fields(row.message, row.way_out)
        assert facts == wanted, f"{name}, line {call.lineno}: {ast.unparse(call)}"
        raised |= set() if only_words else {name}
    assert raised == set(Reason.__members__)


def test_each_reason_is_one_of_the_verbs_that_its_file_is_for() -> None:
    assert {each for of_verb in REASONS_OF.values() for each in of_verb} == set(Reason)
    assert all(len(set(of_verb)) == len(of_verb) for of_verb in REASONS_OF.values())
    raised: dict[str, set[Reason]] = {}
    for place, name, _call in _calls():
        raised.setdefault(place, set()).add(Reason[name])
    for place, verbs in RAISED_FOR.items():
        for reason in raised.pop(place):
            of = {verb for verb, of_verb in REASONS_OF.items() if reason in of_verb}
            assert of & verbs, (place, reason)
    general = {each for of_place in raised.values() for each in of_place}
    assert general == {*OF_ANY_ACT, *OF_ALL_PARTS, Reason.GIT_OF_ITS_OWN, Reason.INCOMPLETE}
    # What is raised in the files of one verb only is of no other verb.
    for verb in ("retry", "rewind"):
        own = {place for place, verbs in RAISED_FOR.items() if verbs == {verb}}
        names = {name for place, name, _call in _calls() if place in own}
        shared = {name for place, name, _call in _calls() if place not in own}
        for other in REASONS_OF.keys() - {verb}:
            assert not {each.name for each in REASONS_OF[other]} & (names - shared), (verb, other)


def test_each_act_that_restores_a_state_has_verbs_with_its_reasons() -> None:
    acts = {
        node.name: ast.unparse(node)
        for _place, module in _using("restoring.act")
        for node in ast.walk(module)
        if isinstance(node, ast.ClassDef) and _restores(node)
    }
    assert acts.keys() == ACTS.keys()
    assert {verb for verbs in ACTS.values() for verb in verbs} == REASONS_OF.keys()
    for name, text in acts.items():
        has_coverage = "even_incomplete=True" not in text and "coverage=None" not in text
        for verb in ACTS[name]:
            reasons = set(REASONS_OF[verb])
            assert reasons >= OF_ANY_ACT, verb
            assert (reasons >= OF_ALL_PARTS) == ("files_only=True" not in text), verb
            if "Destination(there.snapshot" not in text:
                assert (Reason.INCOMPLETE in reasons) == has_coverage, verb


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

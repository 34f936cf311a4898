"""The seed's own status file, read, moved and written; and the messages of its commits."""

import json
from pathlib import Path
from typing import Any

import pytest

from siding.ground.storage.errors import DamagedFile
from siding.record.phases.plan import DEFAULT_PHASES, BadPlan, GateKind, PhaseGate, plan_from
from siding.record.phases.states import PhasePosition
from siding.record.phases.store import (
    HistoryEntry,
    PassedGate,
    PhaseIntent,
    PhaseStore,
    commit_message,
    document_of,
    moved,
    started,
    status_from,
)

SEED: dict[str, Any] = {
    "task_id": "2025-01-15T10-30-00",
    "current_phase": "impl",
    "current_step": 3,
    "started_at": "2025-01-15T10:30:00+08:00",
    "history": [
        {
            "timestamp": "2025-01-15T10:30:00+08:00",
            "action": "start",
            "phase": "flow-design",
            "step": 1,
            "summary": "begin: log in",
            "git_commit": "a1b2c3d",
        },
        {
            "timestamp": "2025-01-15T10:45:00+08:00",
            "action": "next-step",
            "phase": "flow-design",
            "step": 2,
            "summary": "the diagram is done",
        },
        {
            "timestamp": "2025-01-15T11:00:00+08:00",
            "action": "next-part",
            "phase": "impl",
            "step": 3,
            "summary": "designed",
            "git_commit": "i7j8k9l",
        },
    ],
}


def entry(action: str, summary: str = "text", **more: Any) -> HistoryEntry:
    return HistoryEntry(
        timestamp="2025-01-15T12:00:00+08:00",
        action=action,
        phase="impl",
        step=4,
        summary=summary,
        **more,
    )


def test_the_seeds_own_file_is_read_and_kept() -> None:
    status = status_from({**SEED, "source_branch": "main"})
    document = document_of(status)
    assert {key: document[key] for key in SEED} == SEED
    assert document["source_branch"] == "main", "fields of others are kept"
    after = document_of(moved(status, entry("issue", git_commit="abc"), phases=("impl",)))
    assert after["history"][:3] == SEED["history"]
    assert (after["current_phase"], after["current_step"]) == ("impl", 4)
    assert status_from(after).history[-1] == entry("issue", git_commit="abc")


def test_a_gate_is_kept_beside_the_move_it_allowed() -> None:
    gates = (
        PassedGate("command", "pytest", exit_code=0, duration_ms=12, output="ok"),
        PassedGate("ask", "Good?", session_id="2025-01-15T10-30-00", via="terminal"),
        PassedGate("command", "make", exit_code=1, step_id="0003"),
    )
    made = entry("start", gates=gates, inside_step="0004")
    status = started(made, pass_id="p", task="t", phases=("impl",))
    assert status_from(json.loads(json.dumps(document_of(status)))) == status


def test_what_a_file_does_not_say_is_empty() -> None:
    status = status_from({**SEED, "history": [{**SEED["history"][0], "gates": [{}]}]})
    assert (status.task, status.phases) == ("", ())
    assert status.position == PhasePosition("impl", 3)
    (only,) = status.history
    assert (only.inside_step, only.git_commit) == ("", "a1b2c3d")
    assert only.gates == (PassedGate("", ""),)
    assert status_from({**SEED, "history": [SEED["history"][1]]}).history[0].git_commit == ""


@pytest.mark.parametrize(
    ("action", "subject"),
    [
        ("start", "[siding] impl: text"),
        ("next-step", "[siding] impl: text"),
        ("next-part", "[siding] impl: text"),
        ("back-step", "[siding] impl back-step: text"),
        ("back-part", "[siding] impl back-part: text"),
        ("issue", "[siding] impl issue: text"),
        ("error", "[siding] impl error: text"),
    ],
)
def test_the_messages_have_the_seeds_forms(action: str, subject: str) -> None:
    assert commit_message(entry(action)) == subject + "\n"
    assert commit_message(entry(action, "text\n\nmore\n")) == f"{subject}\n\nmore\n"


@pytest.mark.parametrize("field", ["task_id", "current_phase", "current_step", "history"])
def test_what_is_missing_is_damage(tmp_path: Path, field: str) -> None:
    document = {key: value for key, value in SEED.items() if key != field}
    (tmp_path / "flow-status.json").write_text(json.dumps(document))
    with pytest.raises(DamagedFile):
        PhaseStore(tmp_path).load()


@pytest.mark.parametrize("history", [{}, "", None, [3]])
def test_a_history_that_is_no_list_of_entries_is_damage(tmp_path: Path, history: object) -> None:
    (tmp_path / "flow-status.json").write_text(json.dumps({**SEED, "history": history}))
    with pytest.raises(DamagedFile):
        PhaseStore(tmp_path).load()


def test_an_intent_is_kept_until_it_is_finished(tmp_path: Path) -> None:
    store = PhaseStore(tmp_path)
    before = status_from(SEED)
    after = started(entry("start"), pass_id="2025-01-16T00-00-00", task="t", phases=("impl",))
    intent = PhaseIntent(after=after, ends=before, branch="b", old="1", new="2", token="t")
    assert store.cut_off() is None
    store.begin(intent)
    assert store.cut_off() == intent
    assert store.load() is None, "an intent is no status"
    for _ in range(2):  # a second time, as after a kill in between
        store.finish(intent)
        assert store.cut_off() is None
        assert store.load() == after
        assert store.earlier() == [before]


def test_the_plan_of_the_seed_is_the_default() -> None:
    assert plan_from({}).names == DEFAULT_PHASES
    assert plan_from({"names": [" a ", "b"]}).names == ("a", "b")


def test_gates_have_three_kinds() -> None:
    gates = [
        "true",
        {"command": "make"},
        {"ask": "Good?"},
        {"decision": "k", "chosen": "yes"},
    ]
    assert plan_from({"names": ["a", "b"], "gates": {"a": gates, "b": "make"}}).gates == {
        "a": (
            PhaseGate(GateKind.COMMAND, "true"),
            PhaseGate(GateKind.COMMAND, "make"),
            PhaseGate(GateKind.ASK, "Good?"),
            PhaseGate(GateKind.DECISION, "k", "yes"),
        ),
        "b": (PhaseGate(GateKind.COMMAND, "make"),),
    }


@pytest.mark.parametrize(
    ("section", "place"),
    [
        ([], ""),
        ({"names": []}, "names"),
        ({"names": ["a", "a "]}, "names"),
        ({"names": ["a", " "]}, "names"),
        ({"names": ["a", 3]}, "names"),
        ({"names": "abc"}, "names"),
        ({"names": [f"p{number}" for number in range(51)]}, "names"),
        ({"names": ["x" * 61]}, "names"),
        ({"names": ["-a"]}, "names"),
        ({"names": ["a\nb"]}, "names"),
        ({"names": ["a"], "gates": ["x"]}, "gates"),
        ({"names": ["a"], "gates": {"b": "true"}}, "gates.b"),
        ({"names": ["a"], "gates": {"a": [3]}}, "gates.a[0]"),
        ({"names": ["a"], "gates": {"a": ["x", " "]}}, "gates.a[1]"),
        ({"names": ["a"], "gates": {"a": [{"ask": "x", "command": "y"}]}}, "gates.a[0]"),
        ({"names": ["a"], "gates": {"a": [{"ask": " "}]}}, "gates.a[0].ask"),
        ({"names": ["a"], "gates": {"a": [{"ask": 3}]}}, "gates.a[0].ask"),
        (
            {"names": ["a"], "gates": {"a": [{"decision": "k", "chosen": 3}]}},
            "gates.a[0].decision",
        ),
        ({"names": ["a"], "gates": {"a": [{"command": "x", "chosen": "y"}]}}, "gates.a[0].chosen"),
    ],
)
def test_a_mistake_in_the_settings_is_named(section: object, place: str) -> None:
    with pytest.raises(BadPlan) as caught:
        plan_from(section)
    assert caught.value.place == place
    assert " " in str(caught.value), "a sentence for whoever wrote it"
    assert not str(caught.value).startswith("(")


def test_as_much_as_is_allowed() -> None:
    names = [f"p{number}" for number in range(49)]
    assert plan_from({"names": [*names, "x" * 60]}).names == (*names, "x" * 60)


def test_the_commands_of_the_gates_are_listed_by_phase() -> None:
    gates = {"a": ["make", {"ask": "Good?"}, "test"], "b": [{"ask": "Good?"}]}
    plan = plan_from({"names": ["a", "b"], "gates": gates})
    assert plan.commands() == {"a": ("make", "test")}

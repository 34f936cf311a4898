"""The guard: permissions, then the person, then the broker; nothing but a plain yes is one."""

import asyncio
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from siding.assistant.broker import BrokerJudge, RunBroker
from siding.assistant.loop.permissions.facts import PermissionGround
from siding.assistant.loop.permissions.guard import (
    PermissionGuard,
    PermissionQuestion,
    PersonAllows,
    PersonDenies,
)
from siding.assistant.loop.permissions.rules import (
    Behaviour,
    BypassRefused,
    PermissionMode,
    parse_rule,
)
from siding.assistant.loop.permissions.updates import (
    PermissionState,
    PermissionUpdate,
    Scope,
    as_said,
    update_from,
)
from siding.assistant.loop.setup import Allowed, Denied, Guard
from siding.assistant.tools.port import Call, Result, Tool, ToolSpec, Use
from siding.ground.errors import SidingError

from .ground import GROUND, bash, file, rules

YES = {"ok": True, "result": {"output": "", "status": 0}}


class Shell:
    """The tool Bash, as far as a guard looks at it."""

    spec = ToolSpec(
        "Bash",
        "",
        {
            "type": "object",
            "properties": {"command": {"type": "string"}},
            "additionalProperties": False,
        },
    )

    def is_safe(self, given: Mapping[str, Any]) -> bool:
        return bool(given["command"] == "ls")

    def use(self, given: Mapping[str, Any]) -> Use:
        return bash(given["command"])[1]

    async def run(self, _call: Call) -> Result:
        raise AssertionError("a guard runs nothing")


class Editor(Shell):
    """A tool that writes one file."""

    spec = Shell.spec._replace(name="Write")

    def use(self, given: Mapping[str, Any]) -> Use:
        return file("Write", given["command"])[1]


class Reader(Shell):
    """A tool that reads one file."""

    spec = Shell.spec._replace(name="Read")

    def use(self, given: Mapping[str, Any]) -> Use:
        return file("Read", given["command"])[1]


class Person:
    """Answers questions in the order of a list, and keeps what was to be kept."""

    def __init__(self, *answers: PersonAllows | PersonDenies) -> None:
        self.answers = list(answers)
        self.asked: list[PermissionQuestion] = []
        self.kept: list[PermissionUpdate] = []

    async def ask(self, question: PermissionQuestion) -> PersonAllows | PersonDenies:
        self.asked.append(question)
        await asyncio.sleep(0)
        return self.answers.pop(0)

    async def keep(self, update: PermissionUpdate) -> None:
        self.kept.append(update)


def ground() -> PermissionGround:
    return GROUND


def call(command: str) -> Call:
    return Call("c1", "Bash", {"command": command})


def ruled(guard: Guard, *commands: str, tool: Tool | None = None) -> list[Allowed | Denied]:
    used = tool or Shell()

    async def all_of() -> list[Allowed | Denied]:
        return list(await asyncio.gather(*(guard.rule(call(each), used) for each in commands)))

    return asyncio.run(all_of())


def test_what_the_permissions_decide_nobody_is_asked() -> None:
    person = Person()
    state = PermissionState(rules=rules(allow="Bash(make:*)", deny="Bash(rm:*)"))
    guard: Guard = PermissionGuard(state, ground, asker=person)
    made, removed = ruled(guard, "make all", "rm a")
    assert made == Allowed({"command": "make all"})
    assert isinstance(removed, Denied)
    assert "Bash(rm:*)" in removed.reason
    assert not person.asked


def test_without_somebody_to_ask_a_question_is_a_no() -> None:
    (found,) = ruled(PermissionGuard(PermissionState(), ground), "make")
    assert isinstance(found, Denied)
    assert "nobody can be asked" in found.reason


def test_a_no_of_the_person_says_why_and_may_end_the_turn() -> None:
    person = Person(PersonDenies("use just"), PersonDenies(ends_turn=True))
    guard = PermissionGuard(PermissionState(), ground, asker=person)
    first, second = ruled(guard, "make", "make b")
    assert first == Denied("The person did not allow this: use just")
    assert second == Denied("The person did not allow this.", ends_turn=True)


def test_an_answer_that_is_remembered_answers_the_questions_that_wait_behind_it() -> None:
    update = PermissionUpdate(rules=(parse_rule("Bash(make:*)"),))
    person = Person(PersonAllows(updates=(update,)))
    guard = PermissionGuard(PermissionState(), ground, asker=person)
    assert all(isinstance(each, Allowed) for each in ruled(guard, "make a", "make b", "make c"))
    assert len(person.asked) == 1


def test_what_is_remembered_for_the_project_is_kept_or_somebody_hears_that_it_was_not() -> None:
    update = PermissionUpdate(Scope.PROJECT, rules=(parse_rule("Bash(make:*)"),))
    person = Person(PersonAllows(updates=(update,)))
    ruled(PermissionGuard(PermissionState(), ground, asker=person, keeper=person), "make")
    assert person.kept == [update]

    class Full(Person):
        async def keep(self, update: PermissionUpdate) -> None:
            raise SidingError("the disk is full")

    for keeper, why in ((None, "cannot be reached"), (Full(), "disk is full")):
        told: list[str] = []
        asker = Person(PersonAllows(updates=(update,)))
        guard = PermissionGuard(
            PermissionState(), ground, asker=asker, keeper=keeper, tell=told.append
        )
        assert isinstance(ruled(guard, "make")[0], Allowed)
        assert isinstance(ruled(guard, "make again")[0], Allowed)
        assert why in told[0]


def test_a_changed_input_is_decided_on_again() -> None:
    state = PermissionState(rules=rules(deny="Bash(rm:*)"))
    person = Person(
        PersonAllows({"command": "make b"}),
        PersonAllows({"command": "rm a"}),
        PersonAllows({"x": 1}),
    )
    guard = PermissionGuard(state, ground, asker=person)
    changed, denied, unfit = ruled(guard, "make a", "make a", "make a")
    assert changed == Allowed({"command": "make b"})
    assert isinstance(denied, Denied)
    assert "Bash(rm:*)" in denied.reason
    assert isinstance(unfit, Denied)


def test_the_offers_are_narrow_and_never_for_what_runs_anything() -> None:
    person = Person(*[PersonDenies()] * 8)
    guard = PermissionGuard(PermissionState(), ground, asker=person)
    ruled(
        guard,
        "git commit -m x",
        "sudo rm a",
        "touch a && mkdir b",
        "$X",
        "npm run x",
        "python3 a.py",
        "./make.sh all",
        "touch a && ~/bin/tool b",
    )
    offered = [
        [
            rule.text
            for offer in asked.offers
            if offer.scope is Scope.SESSION
            for rule in offer.rules
        ]
        for asked in person.asked
    ]
    assert offered == [
        ["Bash(git commit -m x)", "Bash(git commit:*)"],
        ["Bash(sudo rm a)"],
        ["Bash(touch a && mkdir b)", "Bash(touch:*)", "Bash(mkdir:*)"],
        ["Bash($X)"],
        ["Bash(npm run x)"],
        ["Bash(python3 a.py)"],
        ["Bash(./make.sh all)"],  # a file of the workspace: the agent may write another into it
        ["Bash(touch a && ~/bin/tool b)"],
    ]


def test_reading_is_offered_by_directory_unless_a_rule_would_mean_more() -> None:
    person = Person(*[PersonDenies()] * 3)
    guard = PermissionGuard(PermissionState(), ground, asker=person)
    for path in ("~/notes/a.txt", "~/a*b/c.txt", "/top"):
        ruled(guard, path, tool=Reader())
    offered = [
        {rule.text for offer in asked.offers for rule in offer.rules} for asked in person.asked
    ]
    assert offered == [{"Read(//h/notes/**)"}, set(), set()]


@pytest.mark.parametrize("command", ["git commit -m x", "rm a && make", "npm run x", "a 'b (c'"])
def test_what_is_offered_allows_the_call_that_was_asked_about(command: str) -> None:
    person = Person(PersonDenies())
    ruled(PermissionGuard(PermissionState(), ground, asker=person), command)
    assert person.asked[0].offers
    for offer in person.asked[0].offers:
        told = update_from(as_said(offer))
        assert told is not None
        state = PermissionState().after(told)
        assert isinstance(ruled(PermissionGuard(state, ground), command)[0], Allowed)


def test_the_offer_for_an_edit_is_the_mode_that_accepts_edits() -> None:
    person = Person(PersonAllows(updates=(PermissionUpdate(mode=PermissionMode.ACCEPT_EDITS),)))
    guard = PermissionGuard(PermissionState(), ground, asker=person)

    async def both() -> None:
        for path in ("a.py", "b.py"):
            asked = Call("c", "Write", {"command": path})
            assert isinstance(await guard.rule(asked, Editor()), Allowed)

    asyncio.run(both())
    assert len(person.asked) == 1
    assert guard.state.mode is PermissionMode.ACCEPT_EDITS


def test_everything_is_allowed_in_a_sandbox_only_by_whatever_way() -> None:
    with pytest.raises(BypassRefused):
        PermissionGuard(PermissionState(PermissionMode.BYPASS), ground)
    told: list[str] = []
    person = Person(PersonAllows(updates=(PermissionUpdate(mode=PermissionMode.BYPASS),)))
    guard = PermissionGuard(PermissionState(), ground, asker=person, tell=told.append)
    with pytest.raises(BypassRefused):
        guard.set_mode(PermissionMode.BYPASS)
    ruled(guard, "make")
    assert guard.state.mode is PermissionMode.DEFAULT
    assert "sandbox" in told[0]
    guard = PermissionGuard(PermissionState(), ground, may_bypass=True)
    guard.set_mode(PermissionMode.BYPASS)
    assert isinstance(ruled(guard, "make")[0], Allowed)


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"type": "removeRules", "rules": [{"toolName": "Bash"}], "behavior": "deny"},
        {"type": "replaceRules", "rules": [], "behavior": "deny"},
        {"type": "addRules", "rules": [{"toolName": "Bash"}], "behavior": "maybe"},
        {"type": "addRules", "rules": [{"toolName": 1}], "behavior": "allow"},
        {"type": "addRules", "rules": [{"toolName": "*"}], "behavior": "allow"},
        {"type": "addRules", "rules": "Bash", "behavior": "allow"},
        {"type": "setMode", "mode": "everything"},
        {"type": "addDirectories", "directories": []},
    ],
)
def test_an_update_that_makes_no_sense_or_takes_something_out_is_none(said: dict[str, Any]) -> None:
    assert update_from(said) is None


def test_an_update_for_the_repository_counts_for_the_session() -> None:
    said = {
        "type": "addRules",
        "rules": [{"toolName": "Bash", "ruleContent": "make"}],
        "behavior": "deny",
        "destination": "projectSettings",
    }
    found = update_from(said)
    assert found is not None
    assert (found.scope, found.behaviour) == (Scope.SESSION, Behaviour.DENY)
    assert [rule.text for rule in found.rules] == ["Bash(make)"]


# -- the broker ------------------------------------------------------------------------------------


async def _served(
    path: Path, answer: Callable[[dict[str, Any]], bytes], act: Callable[[RunBroker], Any]
) -> Any:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(answer(json.loads(await reader.readline())))
        writer.close()

    async with await asyncio.start_unix_server(serve, path):
        return await act(RunBroker(str(path)))


def test_a_call_that_is_allowed_is_reported_with_what_it_does(tmp_path: Path) -> None:
    heard: list[dict[str, Any]] = []

    def answer(request: dict[str, Any]) -> bytes:
        heard.append(request)
        return json.dumps(YES).encode() + b"\n"

    async def act(broker: RunBroker) -> None:
        state = PermissionState(rules=rules(allow="Bash; Write", deny="Bash(rm:*)"))
        guard = PermissionGuard(state, ground, judge=BrokerJudge(broker))
        for command in ("make", "ls", "rm a"):
            await guard.rule(call(command), Shell())
            await guard.ended(call(command), Shell(), Result(""))
        await guard.rule(Call("c2", "Write", {"command": "into/a"}), Editor())

    asyncio.run(_served(tmp_path / "s", answer, act))
    told = [(each["do"], each["agent"], each["payload"]) for each in heard]
    assert told == [
        ("report", "any", {"moment": "tool", "call": "c1", "cwd": "/w", "command": "make"}),
        ("report", "any", {"moment": "call", "call": "c1", "text": "Bash"}),
        ("report", "any", {"moment": "tool", "call": "c1", "cwd": "/w", "command": "ls"}),
        ("report", "any", {"moment": "call", "call": "c1", "text": "Bash"}),
        (
            "report",
            "any",
            {"moment": "tool", "call": "c2", "cwd": "/w", "tool": "Write", "writes": ["/w/src/a"]},
        ),
    ]


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (YES, ""),
        ({"ok": True, "result": {"output": "{}"}}, ""),
        ({"ok": True, "result": {"output": json.dumps({"deny": "no: policy"})}}, "no: policy"),
        ({"ok": False, "error": {"message": "too many"}}, "too many"),
        ({"ok": False}, "verdict could not be had (the broker has refused)"),
        ({"ok": "yes", "result": {"output": ""}}, "verdict could not be had"),
        ({"ok": True}, "verdict could not be had"),
        ({"ok": True, "result": {}}, "verdict could not be had"),
        ({"ok": True, "result": {"output": None}}, "verdict could not be had"),
        ({"ok": True, "result": {"output": "allowed"}}, "verdict could not be had"),
        ({"ok": True, "result": {"output": "[]"}}, "verdict could not be had"),
        ({"ok": True, "result": {"output": '{"deny": 1}'}}, "verdict could not be had"),
        ([], "verdict could not be had"),
        (b"", "verdict could not be had"),
        (b'{"ok": true', "verdict could not be had"),
        (b"nonsense\n", "verdict could not be had"),
        (b"\xff\n", "verdict could not be had"),
    ],
)
def test_nothing_but_a_plain_answer_of_the_broker_is_a_yes(
    answer: Any, says: str, tmp_path: Path
) -> None:
    raw = answer if isinstance(answer, bytes) else json.dumps(answer).encode() + b"\n"

    async def act(broker: RunBroker) -> str:
        return await BrokerJudge(broker).refuses(call("make"), bash("make")[1], "/w")

    found = asyncio.run(_served(tmp_path / "s", lambda _: raw, act))
    assert says in found if says else found == ""


def test_a_broker_that_is_gone_is_no_yes(tmp_path: Path) -> None:
    judge = BrokerJudge(RunBroker(str(tmp_path / "nobody")))
    state = PermissionState(rules=rules(allow="Bash"))
    (found,) = ruled(PermissionGuard(state, ground, judge=judge), "make")
    assert isinstance(found, Denied)
    assert "verdict could not be had" in found.reason


def test_a_broker_that_was_killed_is_asked_again(tmp_path: Path) -> None:
    answers = [b"", json.dumps(YES).encode() + b"\n"]

    async def act(broker: RunBroker) -> str:
        return await BrokerJudge(broker).refuses(call("make"), bash("make")[1], "/w")

    assert asyncio.run(_served(tmp_path / "s", lambda _: answers.pop(0), act)) == ""

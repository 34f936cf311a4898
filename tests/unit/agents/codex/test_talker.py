"""What meets what: prompts, steers, stops, settings and answers of Codex' talker."""

from collections.abc import Mapping
from typing import Any

import pytest

from siding.agents.talking.port import (
    Answer,
    Applied,
    Asked,
    AskGone,
    How,
    Opened,
    Origin,
    Picture,
    PromptTaken,
    Trouble,
    Troubled,
    TurnEnded,
    TurnStarted,
)
from unit.agents.codex.held import approval, asks, begun, notice, opened_talker, running, told
from unit.agents.codex.scenes import sent_by


def test_a_turn_is_stopped_as_soon_as_it_has_started() -> None:
    talker = opened_talker()
    talker.stop()  # no turn runs
    assert sent_by(talker) == []
    talker.prompt("p1", ["Talk"])
    (prompt,) = sent_by(talker)
    talker.stop()
    assert told(talker, {"id": prompt["id"], "result": {"turn": {"id": "t"}}}) == []
    assert sent_by(talker) == []
    told(talker, notice("turn/started", turn={"id": "t"}))
    (interrupt,) = sent_by(talker)
    assert (interrupt["method"], interrupt["params"]["turnId"]) == ("turn/interrupt", "t")
    (ended,) = told(talker, notice("turn/completed", turn={"id": "t", "status": "interrupted"}))
    assert ended == TurnEnded(How.STOPPED)
    talker.stop()
    assert sent_by(talker) == []


def test_nothing_is_answered_while_it_stops_unless_the_stop_is_refused() -> None:
    talker = running()
    (asked,) = told(talker, approval())
    assert isinstance(asked, Asked)
    talker.stop()
    (interrupt,) = sent_by(talker)
    talker.answer(asked.ask, Answer(allows=True))
    assert sent_by(talker) == []
    refused = {"id": interrupt["id"], "error": {"code": -1, "message": "not now"}}
    assert told(talker, refused) == [Troubled(Trouble.OTHER, "not now")]
    talker.answer(asked.ask, Answer(allows=True))
    assert sent_by(talker) == [{"id": 0, "result": {"decision": "accept"}}]


def test_an_answer_to_nothing_is_passed_over() -> None:
    talker = running()
    talker.answer("99", Answer(allows=True))
    talker.answer("99", Answer(allows=False, reason="no"))
    assert sent_by(talker) == []


def test_a_reason_goes_only_with_a_denial_of_what_the_model_does() -> None:
    talker = running()
    (asked,) = told(talker, approval())
    assert isinstance(asked, Asked)
    talker.answer(asked.ask, Answer(allows=True, reason="it is safe"))
    assert sent_by(talker) == [{"id": 0, "result": {"decision": "accept"}}]
    questions = [{"id": "q", "question": "Which?", "options": None}]
    (asked,) = told(talker, asks("item/tool/requestUserInput", questions=questions))
    assert isinstance(asked, Asked)
    talker.answer(asked.ask, Answer(allows=False, reason="none of them"))
    assert sent_by(talker) == [{"id": "x", "result": {"answers": {}}}]


def test_a_steer_after_a_stop_is_not_sent_and_is_left() -> None:
    talker = running()
    talker.stop()
    sent_by(talker)
    talker.steer("p2", ["Briefly"])
    assert sent_by(talker) == []
    ended = told(talker, notice("turn/completed", turn={"id": "t", "status": "interrupted"}))
    assert ended == [TurnEnded(How.STOPPED, left=("p2",))]


SETTINGS: Mapping[str, tuple[dict[str, str], dict[str, Any], bool]] = {
    # What is set; the inner settings of a mode, if one is; whether it was so before.
    "the model that it has": ({"model": "m"}, {}, True),
    "another model": ({"model": "n"}, {}, False),
    "the effort that it has": ({"effort": "low"}, {}, True),
    "another effort": ({"effort": "high"}, {}, False),
    "the model, and another effort": ({"model": "m", "effort": "high"}, {}, False),
    "the mode that it has": ({"mode": "auto"}, {"model": "m", "reasoning_effort": "low"}, True),
    "another mode": ({"mode": "plan"}, {"model": "m", "reasoning_effort": "low"}, False),
    "all": (
        {"mode": "plan", "model": "n", "effort": "high"},
        {"model": "n", "reasoning_effort": "high"},
        False,
    ),
}


@pytest.mark.parametrize("case", list(SETTINGS))
def test_a_mode_is_set_with_the_model_and_the_effort_that_hold(case: str) -> None:
    wanted, inner, was_so = SETTINGS[case]
    talker = opened_talker()
    policy = {"approvalPolicy": "on-request", "sandboxPolicy": {"type": "workspaceWrite"}}
    now = {"model": "m", "effort": "low", **policy}
    told(talker, notice("thread/settings/updated", threadSettings=now))
    talker.set(**wanted)
    (sent,) = sent_by(talker)
    mode = sent["params"].get("collaborationMode", {}).get("settings", {})
    assert {name: mode[name] for name in inner} == inner
    assert bool(mode) is bool(inner)
    answer = told(talker, {"id": sent["id"], "result": {}})
    assert answer == ([Applied("m", "auto", "low")] if was_so else [])


def test_a_server_that_does_not_begin_is_told() -> None:
    talker = begun()
    (first,) = sent_by(talker)
    error = {"code": -32600, "message": "too old"}
    assert told(talker, {"id": first["id"], "error": error}) == [Troubled(Trouble.OTHER, "too old")]
    assert sent_by(talker) == []


def test_a_stop_that_comes_too_late_is_no_trouble() -> None:
    talker = running()
    talker.stop()
    (interrupt,) = sent_by(talker)
    told(talker, notice("turn/completed", turn={"id": "t", "status": "completed"}))
    refused = {"id": interrupt["id"], "error": {"code": -1, "message": "no active turn"}}
    assert told(talker, refused) == []


def test_what_a_helper_asks_is_gone_when_its_turn_is() -> None:
    talker = running()
    (asked,) = told(talker, approval("u", "helper"))
    assert isinstance(asked, Asked)
    ended = {"turn": {"id": "u", "status": "interrupted"}, "threadId": "helper"}
    assert told(talker, notice("turn/completed", **ended)) == [AskGone(asked.ask)]
    talker.answer(asked.ask, Answer(allows=True))
    assert sent_by(talker) == []


def test_what_codex_takes_back_is_gone_and_a_denial_under_way_is_not_sent() -> None:
    talker = running()
    (asked,) = told(talker, approval())
    assert isinstance(asked, Asked)
    taken_back = notice("serverRequest/resolved", requestId=0)
    assert told(talker, taken_back, taken_back) == [AskGone(asked.ask)]
    (again,) = told(talker, approval())
    assert isinstance(again, Asked)
    assert again.ask != asked.ask
    talker.answer(again.ask, Answer(allows=False, reason="no"))
    talker.answer(again.ask, Answer(allows=True))  # it was answered
    (steer,) = sent_by(talker)
    assert told(talker, taken_back) == [AskGone(again.ask)]
    told(talker, {"id": steer["id"], "result": {"turnId": "t"}})
    assert sent_by(talker) == []


def test_a_steer_waits_until_the_turn_has_started_and_comes_back_if_it_is_refused() -> None:
    talker = opened_talker()
    talker.prompt("p1", ["Talk"])
    talker.steer("p2", ["Briefly"])
    (prompt,) = sent_by(talker)
    told(talker, {"id": prompt["id"], "result": {"turn": {"id": "t"}}})
    told(talker, notice("turn/started", turn={"id": "t"}))
    (steer,) = sent_by(talker)
    assert steer["method"] == "turn/steer"
    refused = {"id": steer["id"], "error": {"code": -32600, "message": "no active turn to steer"}}
    assert told(talker, refused) == []
    ended = {"id": "t", "status": "completed"}
    assert told(talker, notice("turn/completed", turn=ended)) == [TurnEnded(How.DONE, left=("p2",))]
    # What comes after all is told, and given back once.
    late = notice("item/started", item={"type": "userMessage", "id": "i", "clientId": "p2"})
    assert told(talker, late, late) == [PromptTaken("p2")]
    assert told(talker, notice("turn/completed", turn=ended)) == [TurnEnded(How.DONE)]


def test_a_prompt_that_is_refused_ends_its_turn() -> None:
    talker = opened_talker()
    talker.prompt("p1", ["Talk"])
    (prompt,) = sent_by(talker)
    refused = {"id": prompt["id"], "error": {"code": -32600, "message": "no"}}
    assert told(talker, refused) == [TurnEnded(How.FAILED, "no")]


def test_a_turn_that_nobody_prompted_and_a_prompt_that_goes_into_it() -> None:
    talker = opened_talker()
    assert told(talker, notice("turn/started", turn={"id": "t"})) == [
        TurnStarted("", Origin.ITSELF)
    ]
    talker.prompt("p1", ["Talk"])
    (prompt,) = sent_by(talker)
    told(talker, {"id": prompt["id"], "result": {"turn": {"id": "t"}}})
    talker.stop()
    (interrupt,) = sent_by(talker)
    assert interrupt["params"]["turnId"] == "t"


def test_a_prompt_waits_for_the_turn_that_it_begins_behind_one_of_codex_own() -> None:
    talker = opened_talker()
    talker.compact()
    told(talker, notice("turn/started", turn={"id": "t"}))
    talker.prompt("p1", ["Talk"])
    _compact, prompt = sent_by(talker)
    told(talker, {"id": prompt["id"], "result": {"turn": {"id": "u"}}})
    ended = {"id": "t", "status": "completed"}
    assert told(talker, notice("turn/completed", turn=ended)) == [TurnEnded(How.DONE)]
    talker.stop()  # the prompt is on its way
    began = told(talker, notice("turn/started", turn={"id": "u"}))
    assert began == [TurnStarted("p1")]
    assert [each["method"] for each in sent_by(talker)] == ["turn/interrupt"]
    told(talker, notice("turn/completed", turn={"id": "u", "status": "interrupted"}))
    began = told(talker, notice("turn/started", turn={"id": "v"}))
    assert began == [TurnStarted("", Origin.ITSELF)]
    assert sent_by(talker) == []


def test_the_stop_of_a_prompt_that_is_refused_stops_nothing_else() -> None:
    talker = opened_talker()
    talker.prompt("p1", ["Talk"])
    (prompt,) = sent_by(talker)
    talker.stop()
    told(talker, {"id": prompt["id"], "error": {"code": -1, "message": "no"}})
    told(talker, notice("turn/started", turn={"id": "t"}))
    assert sent_by(talker) == []


def test_a_picture_goes_with_its_bytes() -> None:
    talker = opened_talker()
    talker.prompt("p1", ["Which?", Picture("image/png", b"\x89P")])
    (prompt,) = sent_by(talker)
    assert prompt["params"]["input"][1] == {"type": "image", "url": "data:image/png;base64,iVA="}


REFUSED: Mapping[str, tuple[str, Trouble, str]] = {
    "held elsewhere": (
        "thread id-1 already has an active writer",
        Trouble.OTHER,
        "open in another Codex",
    ),
    "gone": ("no rollout found for thread id id-1", Trouble.NO_SESSION, "no rollout"),
    "no id": ("invalid session id: invalid character", Trouble.NO_SESSION, "invalid"),
    "else": ("disk full", Trouble.OTHER, "disk full"),
}


@pytest.mark.parametrize("case", list(REFUSED))
def test_a_thread_that_does_not_open(case: str) -> None:
    says, trouble, message = REFUSED[case]
    talker = begun(session="id-1")
    (first,) = sent_by(talker)
    told(talker, {"id": first["id"], "result": {}})
    _initialized, resume = sent_by(talker)
    assert (resume["method"], resume["params"]["threadId"]) == ("thread/resume", "id-1")
    assert resume["params"]["excludeTurns"] is True
    error = {"code": -32600, "message": says}
    (found,) = told(talker, {"id": resume["id"], "error": error})
    assert isinstance(found, Troubled)
    assert found.trouble is trouble
    assert message in found.message
    assert talker.session == ""


def test_settings_that_are_set_as_it_opens_are_set_before_it_is_open() -> None:
    talker = begun(mode="plan", effort="low")
    sent_by(talker)
    told(talker, {"id": 1, "result": {}})
    _initialized, start = sent_by(talker)
    assert start["params"]["config"] == {"model_reasoning_effort": "low"}
    told(talker, {"id": start["id"], "result": {"thread": {"id": "id-1"}, "model": "m"}})
    *others, settings = sent_by(talker)
    assert settings["params"]["collaborationMode"]["mode"] == "plan"
    assert settings["params"]["effort"] == "low"
    found = told(talker, *({"id": each["id"], "result": {}} for each in others))
    assert found == []
    kept = {"collaborationMode": {"mode": "plan"}, "model": "m", "effort": "low"}
    settled = notice("thread/settings/updated", threadSettings=kept)
    assert told(talker, settled) == []
    applied, opened = told(talker, {"id": settings["id"], "result": {}})
    assert applied == Applied(model="m", mode="plan", effort="low")
    assert isinstance(opened, Opened)


@pytest.mark.parametrize(("wanted", "is_set"), [("low", True), ("high", False), ("", False)])
def test_an_effort_that_the_thread_has_not_is_set(wanted: str, is_set: bool) -> None:
    talker = begun(effort=wanted)
    sent_by(talker)
    told(talker, {"id": 1, "result": {}})
    told(talker, {"id": 2, "result": {"thread": {"id": "id-1"}, "reasoningEffort": "high"}})
    methods = [each["method"] for each in sent_by(talker)[2:]]
    assert ("thread/settings/update" in methods) is is_set


@pytest.mark.parametrize(
    "account",
    [
        {"requiresOpenaiAuth": True, "account": {"type": "apiKey"}},
        {"requiresOpenaiAuth": False, "account": None},
    ],
)
def test_a_login_that_is_there_or_not_needed_is_no_trouble(account: dict[str, Any]) -> None:
    talker = begun()
    sent_by(talker)
    told(talker, {"id": 1, "result": {}}, {"id": 2, "result": {"thread": {"id": "id-1"}}})
    opened = told(talker, {"id": 3, "result": {}}, {"id": 4, "result": account})
    assert [type(each) for each in opened] == [Applied, Opened]


def test_it_says_that_nobody_is_logged_in() -> None:
    talker = begun()
    sent_by(talker)
    told(talker, {"id": 1, "result": {}})
    told(talker, {"id": 2, "result": {"thread": {"id": "id-1"}}})
    skills, account, _models = sent_by(talker)[2:]
    without = {"requiresOpenaiAuth": True, "account": None}
    (trouble,) = told(talker, {"id": account["id"], "result": without})
    assert isinstance(trouble, Troubled)
    assert trouble.trouble is Trouble.LOGIN
    assert isinstance(told(talker, {"id": skills["id"], "result": {}})[-1], Opened)

"""The tool Siding, with a broker of the test's."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from siding.assistant.tools.place import Place
from unit.assistant.tools.setting import Bench, place_in, with_tools


class Broker:
    """Gives prepared answers, in their order; keeps what it was asked."""

    def __init__(self, *answers: Mapping[str, Any] | OSError) -> None:
        self.asked: list[Mapping[str, Any]] = []
        self._answers = list(answers)

    async def request(self, fields: Mapping[str, Any]) -> Mapping[str, Any]:
        self.asked.append(fields)
        answer = self._answers.pop(0)
        if isinstance(answer, OSError):
            raise answer
        return answer


def _ok(**result: Any) -> Mapping[str, Any]:
    return {"ok": True, "result": result}


def _no(code: str, message: str) -> Mapping[str, Any]:
    return {"ok": False, "error": {"code": code, "message": message, "hint": "a hint"}}


def _place(tmp_path: Path, answers: Sequence[Mapping[str, Any] | OSError]) -> tuple[Place, Broker]:
    broker = Broker(*answers)
    return place_in(tmp_path, broker=broker), broker


def test_the_record_is_read_and_written(tmp_path: Path) -> None:
    step = {"step": 3, "kind": "run", "status": "ok", "files": 2, "command": ["make", "test"]}
    place, broker = _place(
        tmp_path,
        (
            _ok(steps=[step]),
            _ok(patch="diff --git", cut=True),
            _ok(step=4),
            _ok(step=None),
            _ok(noted=True),
            _ok(task={"name": "t"}),
        ),
    )

    async def act(at: Bench) -> None:
        steps = await at.text("Siding", action="steps", limit=5)
        assert steps == "3 · run · ok · 2 files · make test"
        patch = await at.text("Siding", action="patch", step=3)
        assert patch == "diff --git\n(The patch is longer.)"
        assert await at.text("Siding", action="checkpoint", text="half") == "step 4"
        assert "Nothing has changed" in await at.text("Siding", action="checkpoint")
        assert await at.text("Siding", action="note", text="why") == "It was noted."
        assert '"name": "t"' in await at.text("Siding", action="status")

    with_tools(place, act)
    assert list(broker.asked) == [
        {"do": "steps", "limit": 5},
        {"do": "patch", "step": 3},
        {"do": "checkpoint", "message": "half"},
        {"do": "checkpoint", "message": ""},
        {"do": "note", "text": "why"},
        {"do": "status"},
    ]


def test_a_question_waits_and_can_be_waited_for_again(tmp_path: Path) -> None:
    answered = {"decisions": [{"chosen": "b", "note": "soon"}]}
    place, broker = _place(
        tmp_path,
        (_ok(session="s1"), _no("not_answered", "nobody"), _ok(session="s1", output=answered)),
    )

    async def act(at: Bench) -> None:
        first = await at.text("Siding", action="ask", text="Which?", options=["a", "b"])
        assert first == "There is no answer yet. The question stays open: its session is s1"
        again = await at.text("Siding", action="ask", session="s1", timeout_s=9)
        assert again == "b\nThe person adds: soon"

    with_tools(place, act)
    put, wait, again = broker.asked
    assert put["wait"] is False
    assert put["question"]["items"][0]["options"][1] == {"value": "b", "label": "b"}
    assert wait == {"do": "ask", "session": "s1", "timeout_s": 300}
    assert again["timeout_s"] == 9


def test_what_cannot_be_done_is_said(tmp_path: Path) -> None:
    place, broker = _place(tmp_path, (_no("busy", "it is busy"), OSError(111, "refused")))

    async def act(at: Bench) -> None:
        assert "needs `step`" in await at.error("Siding", action="patch")
        assert "ask needs" in await at.error("Siding", action="ask")
        assert "two options" in await at.error("Siding", action="ask", text="x", options=["a"])
        refused = await at.error("Siding", action="status")
        assert refused == "Siding refused: it is busy (a hint)"
        assert "does not answer: refused" in await at.error("Siding", action="status")
        assert at.tools["Siding"].is_safe({"action": "patch"})
        assert not at.tools["Siding"].is_safe({"action": "note"})

    with_tools(place, act)
    assert len(broker.asked) == 2
    with_tools(place_in(tmp_path), _nobody)


async def _nobody(at: Bench) -> None:
    assert "not in a run of Siding" in await at.error("Siding", action="status")

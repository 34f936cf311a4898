"""The loop against a model with a script: whatever fails, the conversation stays valid."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from itertools import count
from typing import Any

import pytest

from siding.agents.transcripts.session import Session, Source, UnstoredLines
from siding.assistant.loop.events import (
    Answered,
    Compacted,
    CompactingFailed,
    Continued,
    Ending,
    Event,
    FellBack,
    Retrying,
    ToolDenied,
    ToolEnded,
    ToolStarted,
    Transition,
    TurnEnded,
    Withdrawn,
)
from siding.assistant.loop.loop import converse
from siding.assistant.loop.model import (
    BlockEnded,
    Ended,
    InputDelta,
    Limits,
    Message,
    ModelError,
    ModelEvent,
    Request,
    Started,
    StopReason,
    TextDelta,
    Trouble,
    Usage,
)
from siding.assistant.loop.setup import Allowed, Conversation, Denied, Setup
from siding.assistant.session import SessionConversation
from siding.assistant.tools.port import Call, Result, Tool, ToolSpec, Use

BLOCKS = [{"type": "text", "text": "/compact"}]
USAGE = Usage(input=10, output=5)
Answer = Sequence[Any]


def text(said: str, reason: StopReason = StopReason.END, usage: Usage = USAGE) -> Answer:
    return [TextDelta(0, said), BlockEnded(0, {"type": "text", "text": said}), Ended(reason, usage)]


def calls(*names: str, tool: str = "Look") -> Answer:
    blocks = [
        BlockEnded(at, {"type": "tool_use", "id": name, "name": tool, "input": {"what": name}})
        for at, name in enumerate(names)
    ]
    return [*blocks, Ended(StopReason.TOOLS, USAGE)]


class ScriptedModel:
    """Gives the next answer of a list to each request; an error is raised where it stands."""

    def __init__(self, answers: Sequence[Answer], window: int = 200_000) -> None:
        self.requests: list[Request] = []
        self.hung_up = 0
        self._answers = list(answers)
        self._window = window

    async def answer(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        self.requests.append(request)
        _require_valid(request.messages)
        number = len(self.requests)
        begun = False
        try:
            for event in self._answers.pop(0):
                if isinstance(event, ModelError):
                    raise event
                if isinstance(event, asyncio.Event):
                    await event.wait()
                    continue
                if not begun:
                    begun = True
                    yield Started(f"a{number}", f"{request.model}-2026")
                await asyncio.sleep(0)
                yield event
        except GeneratorExit:
            self.hung_up += 1
            raise

    def limits(self, _model: str) -> Limits:
        return Limits(window=self._window, output=1000, most_output=4000)

    def dollars(self, model: str, usage: Usage) -> float | None:
        assert model in ("one", "two")
        return usage.output / 100


def _require_valid(messages: Sequence[Message]) -> None:
    """Check what every provider demands: roles alternate, each call has one result, right after."""
    roles = [each.role for each in messages]
    assert roles == [("user", "assistant")[at % 2] for at in range(len(roles))], roles
    for at, message in enumerate(messages):
        made = [block["id"] for block in message.content if block["type"] == "tool_use"]
        following = messages[at + 1].content if at + 1 < len(messages) else []
        found = [block["tool_use_id"] for block in following if block["type"] == "tool_result"]
        assert made == found


class Tooling:
    """A tool that notes when it begins and ends; it waits for `gate`, if there is one."""

    def __init__(self, name: str, *, safe: bool = True, gate: asyncio.Event | None = None) -> None:
        self.spec = ToolSpec(
            name,
            "looks",
            {
                "type": "object",
                "properties": {"what": {"type": "string"}},
                "required": ["what"],
                "additionalProperties": False,
            },
        )
        self.log: list[str] = []
        self._safe = safe
        self._gate = gate

    def is_safe(self, _given: Mapping[str, Any], /) -> bool:
        return self._safe

    def use(self, given: Mapping[str, Any]) -> Use:
        return Use(text=f"{self.spec.name} {given['what']}")

    async def run(self, call: Call) -> Result:
        self.log.append(f"{call.id} begins")
        if self._gate is not None:
            await self._gate.wait()
        await asyncio.sleep(0)
        self.log.append(f"{call.id} ends")
        if call.given["what"] == "breaks":
            raise ValueError("a mistake")
        return Result(f"saw {call.given['what']}")


class Everything:
    """Allows all calls but those it is told to deny."""

    def __init__(self, denied: Mapping[str, Denied] | None = None) -> None:
        self._denied = denied or {}

    async def rule(self, call: Call, _tool: Tool) -> Allowed | Denied:
        return self._denied.get(call.id) or Allowed(call.given)

    async def ended(self, _call: Call, _tool: Tool, _result: Result) -> None:
        pass


async def _at_once(_seconds: float) -> None:
    await asyncio.sleep(0)


class Desk:
    """A conversation in memory and a model with a script."""

    def __init__(self, *answers: Answer, window: int = 200_000, **more: Any) -> None:
        numbers = count(1)
        source = Source(new_id=lambda: f"u{next(numbers)}", now=lambda: "2026-11-25T10:00:00Z")
        self.session = Session("s", UnstoredLines(source), source)
        self.conversation: Conversation = SessionConversation(self.session)
        self.model = ScriptedModel(answers, window)
        self.look = Tooling("Look")
        self.change = Tooling("Change", safe=False)
        self.stop = asyncio.Event()
        self.events: list[Event] = []
        self.turn = 0  # where the events of the turn begin
        ticks = count()
        self.setup = Setup(
            conversation=self.conversation,
            model=self.model,
            guard=Everything(),
            tools={"Look": self.look, "Change": self.change},
            name="one",
            system=("Be brief.",),
            monotonic=lambda: float(next(ticks)),
            sleep=_at_once,
            spread=lambda: 0.0,
        )._replace(**more)

    async def say(
        self, prompt: str = "Hello", seen: Callable[[Event], None] = lambda _: None
    ) -> TurnEnded:
        async for event in converse(self.setup, prompt, self.stop):
            self.events.append(event)
            seen(event)
        _require_valid(self.conversation.context())
        last = self.events[-1]
        assert isinstance(last, TurnEnded)
        return last

    def of_turn(self, *kinds: type) -> list[Any]:
        return [each for each in self.events[self.turn :] if isinstance(each, kinds)]

    def of(self, *kinds: type) -> list[Any]:
        return [each for each in self.events if isinstance(each, kinds)]

    def said(self) -> list[str]:
        """Return the whole conversation in words."""
        return [_word(block) for each in self.conversation.context() for block in each.content]


def _word(block: Mapping[str, Any]) -> str:
    if block["type"] == "tool_use":
        return f"call {block['id']}"
    if block["type"] == "tool_result":
        return f"result {block['tool_use_id']}: {block['content']}"
    return str(block["text"])


def run(desk: Desk, *prompts: str, seen: Callable[[Event], None] = lambda _: None) -> TurnEnded:
    """Say all prompts, one after the other; return how the last turn ended."""

    async def all_of_them() -> TurnEnded:
        for prompt in prompts or ("Hello",):
            desk.stop.clear()
            desk.turn = len(desk.events)
            ended = await desk.say(prompt, seen)
        return ended

    return asyncio.run(asyncio.wait_for(all_of_them(), 20))


def test_an_answer_without_calls_ends_the_turn() -> None:
    desk = Desk(text("Hi."))
    ended = run(desk)
    assert (ended.ending, ended.text, ended.requests) == (Ending.COMPLETED, "Hi.", 1)
    assert ended.usage == USAGE
    assert ended.dollars == pytest.approx(0.05)
    assert desk.said() == ["Hello", "Hi."]


def test_calls_are_run_and_the_model_is_asked_again() -> None:
    desk = Desk(calls("c1", "c2"), text("Done."))
    assert run(desk).requests == 2
    assert desk.said() == [
        "Hello",
        "call c1",
        "call c2",
        "result c1: saw c1",
        "result c2: saw c2",
        "Done.",
    ]
    assert desk.of(Continued) == [Continued(Transition.NEXT)]


def test_a_call_is_run_while_the_answer_still_comes() -> None:
    later = asyncio.Event()
    first, *rest = calls("c1")
    desk = Desk([first, InputDelta(1, "c2", "Look", "{"), later, *rest], text("Done."))

    def seen(event: Event) -> None:
        if isinstance(event, ToolEnded):
            later.set()  # the stream goes on only then

    assert run(desk, seen=seen).ending is Ending.COMPLETED


def test_calls_that_change_something_run_one_after_the_other() -> None:
    desk = Desk(calls("c1", "c2", tool="Change"), text("Done."))
    run(desk)
    assert desk.change.log == ["c1 begins", "c1 ends", "c2 begins", "c2 ends"]


def test_calls_that_only_look_run_side_by_side() -> None:
    both = asyncio.Event()
    desk = Desk(calls("c1", "c2"), text("Done."))
    desk.setup = desk.setup._replace(tools={"Look": Tooling("Look", gate=both)})

    def seen(_event: Event) -> None:
        if len(desk.of(ToolStarted)) == 2:
            both.set()  # neither of them ends before

    assert run(desk, seen=seen).ending is Ending.COMPLETED


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"name": "Nothing", "input": {}}, "There is no tool 'Nothing'"),
        ({"name": "Look", "input": {"_invalid": '{"wh'}}, "not a JSON object"),
        ({"name": "Look", "input": {"which": "x"}}, "`what` is missing"),
        ({"name": "Look", "input": {"what": "breaks"}}, "ValueError: a mistake"),
    ],
)
def test_a_call_that_cannot_be_done_has_a_result_that_says_why(
    given: dict[str, Any], said: str
) -> None:
    block = {"type": "tool_use", "id": "c1", **given}
    desk = Desk([BlockEnded(0, block), Ended(StopReason.TOOLS, USAGE)], text("Oh."))
    assert run(desk).ending is Ending.COMPLETED
    (ended,) = desk.of(ToolEnded)
    assert ended.result.is_error
    assert said in ended.result.content


def test_a_denied_call_is_told_and_the_model_goes_on() -> None:
    desk = Desk(calls("c1", tool="Change"), text("Pity."), guard=Everything({"c1": Denied("no")}))
    ended = run(desk)
    assert [each.reason for each in ended.denials] == ["no"]
    assert desk.of(ToolDenied, ToolStarted) == [ToolDenied(ended.denials[0].call, "no")]
    assert desk.change.log == []


def test_a_denial_can_end_the_turn() -> None:
    desk = Desk(calls("c1"), guard=Everything({"c1": Denied("stop it", ends_turn=True)}))
    assert run(desk).ending is Ending.STOPPED


@pytest.mark.parametrize(
    "trouble", [Trouble.RATE, Trouble.SERVER, Trouble.OVERLOADED, Trouble.CONNECTION]
)
def test_what_passes_is_tried_again(trouble: Trouble) -> None:
    desk = Desk([ModelError(trouble, "no", after_s=3.0)], text("Hi."))
    assert run(desk).text == "Hi."
    (told,) = desk.of(Retrying)
    assert (told.attempt, told.after_s, told.trouble) == (1, 3.0, trouble)


@pytest.mark.parametrize("trouble", [Trouble.LOGIN, Trouble.CREDIT, Trouble.REQUEST, Trouble.SETUP])
def test_what_does_not_pass_ends_the_turn(trouble: Trouble) -> None:
    desk = Desk([ModelError(trouble, "no", status=400)])
    ended = run(desk)
    assert (ended.ending, ended.error, ended.status) == (Ending.MODEL_ERROR, "no", 400)


def test_tries_come_to_an_end() -> None:
    desk = Desk(*([ModelError(Trouble.SERVER, "no")] for _ in range(3)), most_tries=2)
    assert run(desk).ending is Ending.MODEL_ERROR
    assert len(desk.model.requests) == 3


def test_a_stream_that_breaks_is_taken_back_and_asked_for_in_one_piece() -> None:
    cut = ModelError(Trouble.CONNECTION, "cut", has_begun=True)
    begun = [BlockEnded(0, {"type": "text", "text": "Hal"}), TextDelta(1, "x"), cut]
    desk = Desk(begun, text("Hello again."))
    run(desk)
    assert len(desk.of(Withdrawn)) == 1
    assert desk.said() == ["Hello", "Hello again."]
    assert [each.is_streamed for each in desk.model.requests] == [True, False]


def test_an_answer_that_has_acted_is_not_asked_for_again() -> None:
    """The call was run: to have it again would run it twice."""
    begun = [calls("c1", tool="Change")[0], TextDelta(1, "x")]
    acted = asyncio.Event()
    cut = ModelError(Trouble.CONNECTION, "cut", has_begun=True)
    desk = Desk([*begun, acted, cut], text("Done."))

    def seen(event: Event) -> None:
        if isinstance(event, ToolStarted):
            acted.set()

    run(desk, seen=seen)
    assert desk.change.log == ["c1 begins", "c1 ends"]
    assert desk.said() == ["Hello", "call c1", "result c1: saw c1", "Done."]
    assert desk.of(Withdrawn) == []


def test_another_model_answers_after_three_overloads() -> None:
    busy = [ModelError(Trouble.OVERLOADED, "busy")]
    desk = Desk(busy, busy, busy, text("Hi."), fallback="two")
    run(desk)
    assert desk.of(FellBack) == [FellBack(model="two", instead_of="one", why="busy")]
    assert [each.model for each in desk.model.requests] == ["one"] * 3 + ["two"]


def test_output_that_does_not_fit_is_asked_for_with_more_room_then_continued() -> None:
    cut = StopReason.MAX_OUTPUT
    desk = Desk(text("A", cut), text("B", cut), text("C", cut), text("D", cut), text("E", cut))
    assert run(desk).ending is Ending.COMPLETED
    assert [each.max_output for each in desk.model.requests] == [1000, 4000, 4000, 4000, 4000]
    assert [each.transition for each in desk.of(Continued)] == [
        Transition.MORE_OUTPUT,
        Transition.GO_ON,
        Transition.GO_ON,
        Transition.GO_ON,
    ]
    assert "A" not in desk.said()


def test_a_prompt_that_is_too_long_is_summed_up_once() -> None:
    too_long = [ModelError(Trouble.TOO_LONG, "too long")]
    desk = Desk(text("First."), too_long, text("<summary>All.</summary>"), text("Hi."))
    ended = run(desk, "One", "Two")
    assert (ended.ending, ended.text) == (Ending.COMPLETED, "Hi.")
    assert len(desk.of(Compacted)) == 1
    assert "First." not in desk.said()
    assert "Two" in desk.said()


def test_a_prompt_that_stays_too_long_ends_the_turn() -> None:
    too_long = [ModelError(Trouble.TOO_LONG, "too long")]
    desk = Desk(text("First."), too_long, text("Sum."), too_long)
    assert run(desk, "One", "Two").ending is Ending.TOO_LONG


def test_a_long_conversation_is_summed_up_before_it_is_too_long() -> None:
    full = Usage(input=9000, output=10)
    desk = Desk(text("First.", usage=full), text("Sum."), text("Hi."), window=10_000)
    assert run(desk, "One", "x" * 38_000).ending is Ending.COMPLETED
    assert len(desk.of(Compacted)) == 1


def test_summing_up_that_fails_leaves_the_conversation_as_it_is() -> None:
    no = [ModelError(Trouble.SERVER, "no")]
    desk = Desk(text("First."), no, text("Hi."), window=10_000)
    run(desk, "One", "x" * 38_000)
    assert desk.of(CompactingFailed) == [CompactingFailed("no")]
    assert "First." in desk.said()


@pytest.mark.parametrize(
    "prompt", ["/compact", " /compact keep the names\n", "/compact\nkeep the names", BLOCKS]
)
def test_a_person_can_have_it_summed_up(prompt: Any) -> None:
    desk = Desk(text("First."), text("<summary>All.</summary>"), text("Hi."), text("Sum 2."))
    ended = run(desk, "One", prompt)
    assert ended.ending is Ending.COMPLETED
    assert ended.text.startswith("summed up: about ")
    assert [each.trigger for each in desk.of(Compacted)] == ["manual"]
    asked = desk.model.requests[-1].messages[-1].content[-1]["text"]
    assert ("keep the names" in asked) == ("keep" in str(prompt))
    assert "/compact" not in " ".join(desk.said())
    assert "First." not in desk.said()


def test_it_can_be_summed_up_again() -> None:
    sums = [text("<summary>All.</summary>"), text("Hi."), text("<summary>More.</summary>")]
    desk = Desk(text("First."), *sums)
    assert run(desk, "One", "/compact", "Two", "/compact").ending is Ending.COMPLETED
    assert [each.trigger for each in desk.of(Compacted)][-1] == "manual"
    assert [("Two" in each, "More." in each) for each in desk.said()] == [(False, True)]


def test_what_cannot_be_summed_up_is_an_error() -> None:
    nothing = run(Desk(), "/compact")
    assert (nothing.ending, "nothing was said yet" in nothing.error) == (Ending.MODEL_ERROR, True)
    desk = Desk(text("First."), [ModelError(Trouble.REQUEST, "no")])
    assert run(desk, "One", "/compact").error == "it was not summed up: no"
    assert "First." in desk.said()
    assert run(Desk(text("Yes.")), "/compacted").text == "Yes."


@pytest.mark.parametrize(
    ("limit", "ending"),
    [
        ({"most_requests": 1}, Ending.MAX_TURNS),
        ({"most_dollars": 0.01}, Ending.MAX_BUDGET),
        ({"most_tokens": 12}, Ending.MAX_TOKENS),
    ],
)
def test_a_limit_ends_the_turn_after_the_results(limit: dict[str, Any], ending: Ending) -> None:
    desk = Desk(calls("c1"), **limit)
    assert run(desk).ending is ending
    assert desk.said()[-1] == "result c1: saw c1"


def test_what_is_said_meanwhile_comes_with_the_next_request() -> None:
    waiting = ["And quickly"]
    desk = Desk(calls("c1"), text("Yes."), queued=lambda: [waiting.pop()] if waiting else [])
    run(desk)
    assert "And quickly" in desk.said()


def test_a_hook_can_object_to_the_end() -> None:
    objections = ["The tests fail."]

    async def hook(_text: str) -> str:
        return objections.pop() if objections else ""

    desk = Desk(text("Done."), text("Now it is."), stop_hooks=hook)
    assert run(desk).text == "Now it is."
    assert desk.said() == ["Hello", "Done.", "The tests fail.", "Now it is."]


def test_an_object_is_handed_over_by_a_tool() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    block = {"type": "tool_use", "id": "o", "name": "StructuredOutput", "input": {"n": 3}}
    wrong = {**block, "id": "w", "input": {"n": "three"}}
    desk = Desk(
        text("It is three."),
        [BlockEnded(0, wrong), Ended(StopReason.TOOLS, USAGE)],
        [BlockEnded(0, block), Ended(StopReason.TOOLS, USAGE)],
        schema=schema,
    )
    ended = run(desk)
    assert (ended.ending, ended.object) == (Ending.COMPLETED, {"n": 3})


def test_an_object_that_never_comes_ends_the_turn() -> None:
    desk = Desk(*(text("Three.") for _ in range(6)), schema={"type": "object"})
    assert run(desk).ending is Ending.NO_OBJECT


def test_an_interrupt_while_the_answer_comes_keeps_what_was_said() -> None:
    never = asyncio.Event()
    desk = Desk([TextDelta(0, "I was about"), never], text("Yes?"))

    def seen(event: Event) -> None:
        if isinstance(event, TextDelta) and event.text == "I was about":
            desk.stop.set()

    assert run(desk, "Hello", "Go on", seen=seen).ending is Ending.COMPLETED
    endings = [each.ending for each in desk.of(TurnEnded)]
    assert endings == [Ending.INTERRUPTED, Ending.COMPLETED]
    interrupted = "[Request interrupted by user]"
    assert desk.said() == ["Hello", "I was about", interrupted, "Go on", "Yes?"]


def test_an_interrupt_while_a_tool_runs_gives_its_call_a_result() -> None:
    desk = Desk(calls("c1", "c2", tool="Change"), text("Yes?"))
    desk.change = Tooling("Change", safe=False, gate=asyncio.Event())
    desk.setup = desk.setup._replace(tools={"Change": desk.change})

    def seen(_event: Event) -> None:
        if desk.of_turn(ToolStarted) and desk.of_turn(Answered):  # so both calls are there
            desk.stop.set()

    run(desk, "Hello", "Go on", seen=seen)
    endings = [each.ending for each in desk.of(TurnEnded)]
    assert endings == [Ending.INTERRUPTED, Ending.COMPLETED]
    results = [each for each in desk.said() if each.startswith("result")]
    assert [each.split(":")[1][:13] for each in results] == [" [Interrupted"] * 2
    assert desk.change.log == ["c1 begins"]


def test_who_stops_listening_ends_the_request() -> None:
    desk = Desk([TextDelta(0, "Hi"), asyncio.Event()])

    async def listen() -> None:
        events = converse(desk.setup, "Hello", desk.stop)
        async for event in events:
            if isinstance(event, TextDelta):
                break
        await events.aclose()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        assert others == set()

    asyncio.run(listen())

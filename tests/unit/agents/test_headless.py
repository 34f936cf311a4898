"""What the output of agents means, as clients print it; how they are given a prompt once more."""

import json
from typing import Any

import pytest

from siding.agents.aider.headless import HEADLESS as AIDER
from siding.agents.claude.headless import HEADLESS as CLAUDE
from siding.agents.codex.headless import HEADLESS as CODEX
from siding.agents.headless.command import HEADLESS as COMMAND
from siding.agents.headless.command import WITH_EVENTS
from siding.agents.headless.output import fault_of
from siding.agents.headless.port import (
    HEADLESS,
    Ask,
    Fault,
    Headless,
    Level,
    PromptAgain,
    Seen,
    prompted_again,
)
from siding.agents.opencode.headless import HEADLESS as OPENCODE

ASK = Ask(prompt="-p", program=("an-agent",), directory="/files")


def seen(headless: Headless, *events: Any, ask: Ask = ASK, piece: int = 7) -> Seen:
    """Feed the events in pieces, as a pipe may cut them."""
    stream = headless.stream(ask)
    lines = [each if isinstance(each, str) else json.dumps(each) for each in events]
    data = "\n".join(lines).encode()
    for at in range(0, len(data), piece):
        stream.feed(data[at : at + piece])
    stream.end()
    return stream.seen


def test_lines_that_are_no_events_are_passed_over() -> None:
    told = {"event": "done", "text": "ä"}
    found = seen(WITH_EVENTS, "Warning: {", "[1]", '{"event": ', {"event": "new"}, told, piece=1)
    assert (found.text, found.ended) == ("ä", True)


def test_an_end_that_never_comes_is_none() -> None:
    assert not seen(CLAUDE, {"type": "assistant", "message": {"id": "m", "content": []}}).ended
    assert not seen(WITH_EVENTS, {"event": "says", "text": "x"}, '{"event": "done"').ended
    assert not seen(OPENCODE, {"type": "step_finish", "part": {"reason": "tool-calls"}}).ended


def test_a_message_in_several_lines_is_counted_once() -> None:
    usage = {"input_tokens": 5, "cache_read_input_tokens": 100, "output_tokens": 20}
    parts = [{"type": "text", "text": "a"}, {"type": "tool_use", "name": "Bash", "input": {}}]
    lines = [
        {"type": "assistant", "message": {"id": "m1", "usage": usage, "content": [part]}}
        for part in parts
    ]
    found = seen(CLAUDE, *lines)
    assert (found.tokens, found.input_tokens, found.tools) == (20, 105, 1)


def test_what_a_subagent_says_is_not_the_answer() -> None:
    def line(text: str, parent: str | None) -> dict[str, Any]:
        message = {"id": text, "content": [{"type": "text", "text": text}]}
        return {"type": "assistant", "parent_tool_use_id": parent, "message": message}

    assert seen(CLAUDE, line("mine", None), line("its own", "toolu_1")).text == "mine"


@pytest.mark.parametrize(("goes_on", "tokens"), [("", 60), ("a-thread", 0)])
def test_the_sum_of_a_whole_conversation_is_not_that_of_a_run(goes_on: str, tokens: int) -> None:
    done = {"type": "turn.completed", "usage": {"input_tokens": 304, "output_tokens": 60}}
    assert seen(CODEX, done, ask=ASK._replace(session=goes_on)).tokens == tokens


def test_aider_ends_well_whatever_happened() -> None:
    printed = [
        "Aider v0.86.2",
        "Main model: openai/a with diff edit format",
        "litellm.AuthenticationError: the key is refused",
        "Tokens: 1.2k sent, 345 received. Cost: $0.01 message, $0.03 session.",
    ]
    found = seen(AIDER, *printed)
    assert (found.fault, found.input_tokens, found.tokens) == (Fault.LOGIN, 1200, 345)
    assert found.dollars == 0.03
    assert seen(AIDER, printed[0], "I did it.").text == "I did it."


@pytest.mark.parametrize(
    ("message", "status", "fault"),
    [
        ("prompt is too long: 210000 tokens > 200000 maximum", 400, Fault.TOO_LONG),
        ("This model's maximum context length is 8192 tokens", None, Fault.TOO_LONG),
        ("Request too large", 413, Fault.TOO_LONG),
        ("unexpected status 401 Unauthorized: no", None, Fault.LOGIN),
        ("Invalid API key · Please run /login", None, Fault.LOGIN),
        ("exceeded retry limit, last status: 429 Too Many Requests", None, Fault.SERVER),
        ("overloaded", 529, Fault.SERVER),
        ("as the test says", 400, Fault.REFUSED),
        ('[API Error: {"error":{"message":"no","code":400}}]', None, Fault.REFUSED),
        ("No conversation found with session ID: x", None, Fault.NO_SESSION),
        ("thread/resume failed: no rollout found for thread id x", None, Fault.NO_SESSION),
        ("something else", None, Fault.OTHER),
    ],
)
def test_what_a_message_is_about(message: str, status: int | None, fault: Fault) -> None:
    assert fault_of(message, status) is fault


@pytest.mark.parametrize("name", HEADLESS.agents)
@pytest.mark.parametrize("level", list(Level))
def test_a_prompt_is_never_a_word_of_the_command_line(name: str, level: Level) -> None:
    ask = ASK._replace(prompt="--help; x", level=level, text="be kind", new_session="a-uuid")
    headless = HEADLESS.of(name)
    assert headless is not None
    invocation = headless.invoked(ask)
    given = [invocation.stdin, *invocation.files.values()]
    assert any("--help; x" in each for each in given)
    assert not any("--help; x" in word for word in invocation.argv)


def test_places_in_a_command_are_filled_once() -> None:
    ask = ASK._replace(
        prompt="say {prompt_file} {model}", program=("a", "--ask={prompt}", "{model}"), model="m"
    )
    invocation = COMMAND.invoked(ask)
    assert invocation.argv == ("a", "--ask=say {prompt_file} {model}", "m")
    assert (invocation.stdin, invocation.files) == ("", {})


def test_what_a_command_has_no_place_for_is_left_out() -> None:
    ask = ASK._replace(model="m", effort="high", tools=("x",), session="s")
    assert COMMAND.invoked(ask).left_out == ("model", "effort", "allowed_tools", "session")


@pytest.mark.parametrize(
    ("schema", "is_taken"),
    [
        ({"type": "object", "properties": {"n": {"type": "number"}}}, False),
        ({"type": "object", "additionalProperties": False}, True),
        (
            {
                "type": "object",
                "properties": {"n": {"type": "array", "items": {"type": "object"}}},
                "required": ["n"],
                "additionalProperties": False,
            },
            False,
        ),
        (
            {
                "type": "object",
                "properties": {"n": {"type": "number"}},
                "required": ["n"],
                "additionalProperties": False,
            },
            True,
        ),
        ({"type": "object", "additionalProperties": False, "oneOf": []}, False),
    ],
)
def test_only_a_strict_schema_goes_to_codex(schema: dict[str, Any], is_taken: bool) -> None:
    assert CODEX.takes_schema(schema) is is_taken


# -- A prompt once more ----------------------------------------------------------------------------

ID = "0f343741-ae22-4493-b1bd-08f9aa0f342b"


@pytest.mark.parametrize(
    ("agent", "line", "session", "alone", "made"),
    [
        ("claude", "claude", ID, True, f"claude -p --resume {ID} -- P"),
        ("claude", "claude -p Q --model x", "", True, "claude -p --model x -- P"),
        (
            "claude",
            f"claude -r {ID} --tools A B",
            ID,
            False,
            f"claude --resume {ID} --tools A B -- P",
        ),
        ("claude", "claude -c Q", ID, False, f"claude --resume {ID} -- P"),
        ("siding-agent", "siding-agent -p Q", "", True, "siding-agent -p -- P"),
        ("codex", "codex -m x --search", ID, True, f"codex exec -m x resume {ID} -- P"),
        ("codex", "codex -m x --search", ID, False, f"codex -m x --search resume {ID} -- P"),
        ("codex", "codex exec --json Q", "", True, "codex exec --json -- P"),
        (
            "codex",
            f"codex exec -s read-only resume {ID} Q",
            ID,
            True,
            f"codex exec -s read-only resume {ID} -- P",
        ),
        ("codex", "codex exec resume --last Q", ID, True, f"codex exec resume {ID} -- P"),
        ("gemini", "gemini -m x -p Q", ID, True, f"gemini -m x --resume {ID} --prompt=P"),
        ("gemini", "gemini --resume latest -y", "", False, "gemini -y --prompt-interactive=P"),
        ("opencode", "opencode run -m x Q", ID, True, f"opencode run --session {ID} -m x -- P"),
        ("opencode", "opencode -m x --port 1", ID, True, f"opencode run --session {ID} -m x -- P"),
        ("opencode", "opencode", ID, True, f"opencode run --session {ID} -- P"),
        ("codex", "codex", "", True, "codex exec -- P"),
        ("codex", "codex -c -m -m x", "", True, "codex exec -c -m -m x -- P"),
        ("opencode", "opencode -c", ID, False, f"opencode --session {ID} --prompt=P"),
        ("aider", "aider -m Q", "", True, ""),
        ("claude", "claude", "--evil", True, ""),
    ],
)
def test_options_stay_and_what_was_asked_before_goes(
    agent: str, line: str, session: str, alone: bool, made: str
) -> None:
    asked = PromptAgain(tuple(line.split()), "P", session, alone, ["Q", "another"])
    assert " ".join(prompted_again(agent, asked)) == made

"""Every provider against a server of its wire: what it is sent, what is told, how it fails."""

import asyncio
import base64
import time
from collections.abc import Iterator
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from siding.assistant.loop.model import (
    BlockEnded,
    Cache,
    Effort,
    InputDelta,
    Message,
    Request,
    StopReason,
    TextDelta,
    Thinking,
    ThinkingDelta,
    Trouble,
    Usage,
)
from siding.assistant.models.any_model import AnyModel
from siding.assistant.tools.port import ToolSpec
from unit.assistant.models.asking import ask, failure, request, returned, said, user
from wires import chat, gemini, messages, responses
from wires.answers import Answer, Refusal, Reply, Silence, Text, Thought, ToolUse, Used, hello
from wires.server import Server

CLAUDE = "anthropic:claude-opus-4-6"
MODELS: dict[str, Any] = {
    CLAUDE: messages,
    "openai:gpt-5.1": responses,
    "openai-chat:gpt-4.1": chat,
    "google:gemini-2.5-flash": gemini,
}
GARBAGE = b"event: content_block_delta\ndata: {no\n\n"
ALL = pytest.mark.parametrize("name", MODELS)
Part = Text | Thought | ToolUse
READ = ToolSpec("Read", "Reads", {"type": "object", "properties": {"path": {"type": "string"}}})
CALLS = [ToolUse("call_1", "Read", {"path": "a"}), ToolUse("call_2", "Read", {"path": "b"})]


@pytest.fixture(scope="module")
def servers() -> Iterator[dict[str, Server]]:
    found = {name: Server(wire) for name, wire in MODELS.items()}
    yield found
    for server in found.values():
        server.close()


@pytest.fixture
def served(servers: dict[str, Server]) -> Any:
    def serve(name: str, *script: Answer, **more: Any) -> tuple[AnyModel, Server]:
        server = servers[name]
        server.answers(*script)
        return AnyModel(environment(server) | more.pop("env", {}), **more), server

    return serve


def environment(server: Server) -> dict[str, str]:
    return {
        "ANTHROPIC_API_KEY": "a-key",
        "ANTHROPIC_BASE_URL": server.url,
        "OPENAI_API_KEY": "o-key",
        "OPENAI_BASE_URL": f"{server.url}/v1",
        "GEMINI_API_KEY": "g-key",
        "GOOGLE_GEMINI_BASE_URL": server.url,
        "SIDING_LOCAL_MODEL_URL": f"{server.url}/v1",
    }


@ALL
@pytest.mark.parametrize("is_streamed", [True, False])
def test_thoughts_texts_and_calls_are_told(served: Any, name: str, is_streamed: bool) -> None:
    parts: list[Part] = [Thought("Hm"), Text(["I ", "look"]), *CALLS]
    model, server = served(name, Reply(parts, Used(fresh=100, read=50, said=20, thought=5)))
    answer = ask(model, request(name, tools=[READ], is_streamed=is_streamed))
    thought, *texts, first, second = answer.blocks
    assert thought["thinking"] == "Hm"
    assert "".join(block["text"] for block in texts) == "I look"
    assert [(it["id"], it["input"]) for it in (first, second)] == [
        ("call_1", {"path": "a"}),
        ("call_2", {"path": "b"}),
    ]
    assert answer.ended.reason is StopReason.TOOLS
    assert answer.ended.usage == Usage(input=100, output=25, cache_read=50)
    deltas = {TextDelta: "", ThinkingDelta: ""}
    for event in answer.events:
        if isinstance(event, TextDelta | ThinkingDelta):
            deltas[type(event)] += event.text
    assert deltas == {TextDelta: "I look", ThinkingDelta: "Hm"}
    assert server.wire.is_streamed(server.last) is is_streamed


@ALL
def test_the_key_goes_to_the_server(served: Any, name: str) -> None:
    model, server = served(name, hello())
    assert ask(model, request(name)).text == "Hello there"
    sent = " ".join(server.last.headers.values())
    assert {"anthropic": "a-key", "openai": "o-key", "google": "g-key"}[
        name.split(":")[0].removesuffix("-chat")
    ] in sent


@pytest.mark.parametrize("name", [each for each in MODELS if "gemini" not in each])
def test_an_input_that_is_no_object_is_marked(served: Any, name: str) -> None:
    model, _ = served(name, Reply([ToolUse("call_1", "Read", '{"path": "a')]))
    answer = ask(model, request(name, tools=[READ]))
    assert answer.blocks[0]["input"] == {"_invalid": '{"path": "a'}
    typed = [event.json for event in answer.events if isinstance(event, InputDelta)]
    assert "".join(typed) == '{"path": "a'


@pytest.mark.parametrize(
    ("name", "word", "reason"),
    [
        (CLAUDE, "max_tokens", StopReason.MAX_OUTPUT),
        (CLAUDE, "model_context_window_exceeded", StopReason.MAX_OUTPUT),
        (CLAUDE, "stop_sequence", StopReason.STOP_TEXT),
        (CLAUDE, "refusal", StopReason.REFUSED),
        (CLAUDE, "pause_turn", StopReason.PAUSED),
        ("openai:gpt-5.1", "max_output_tokens", StopReason.MAX_OUTPUT),
        ("openai-chat:gpt-4.1", "length", StopReason.MAX_OUTPUT),
        ("openai-chat:gpt-4.1", "content_filter", StopReason.REFUSED),
        ("google:gemini-2.5-flash", "MAX_TOKENS", StopReason.MAX_OUTPUT),
        ("google:gemini-2.5-flash", "SAFETY", StopReason.REFUSED),
    ],
)
def test_reasons_to_stop(served: Any, name: str, word: str, reason: StopReason) -> None:
    model, _ = served(name, hello(reason=word))
    assert ask(model, request(name)).ended.reason is reason


PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n0").decode()
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
WITH_RESULTS = [
    user("Look", IMAGE),
    said(
        {"type": "thinking", "thinking": "Hm", "signature": "of somebody"},
        *(
            {"type": "tool_use", "id": call.id, "name": "Read", "input": call.input}
            for call in CALLS
        ),
        provider="somebody",
    ),
    user(
        returned("call_1", [{"type": "text", "text": "seen"}, IMAGE]),
        returned("call_2", "no such file", is_error=True),
        "Go on",
    ),
]


def sent_with_results(served: Any, name: str) -> Any:
    model, server = served(name, hello())
    ask(model, request(name, *WITH_RESULTS, tools=[READ]))
    return server.last.body


def test_results_are_sent_to_anthropic_as_they_are(served: Any) -> None:
    sent = sent_with_results(served, CLAUDE)
    assert [block["type"] for block in sent["messages"][1]["content"]] == ["tool_use", "tool_use"]
    first, second, last = sent["messages"][2]["content"]
    assert first["content"][1] == IMAGE
    assert second["is_error"] is True
    assert last["text"] == "Go on"
    assert sent["tools"][0]["input_schema"] == READ.schema


def test_results_are_sent_to_openai(served: Any) -> None:
    sent = sent_with_results(served, "openai:gpt-5.1")
    outputs = [it for it in sent["input"] if it.get("type") == "function_call_output"]
    assert [it["call_id"] for it in outputs] == ["call_1", "call_2"]
    assert "no such file" in str(outputs[1]["output"])
    assert "error" in str(outputs[1]["output"]).lower()
    assert str(sent["input"]).count(PNG) == 2
    assert "of somebody" not in str(sent)


def test_results_are_sent_to_chat(served: Any) -> None:
    sent = sent_with_results(served, "openai-chat:gpt-4.1")
    results = [it for it in sent["messages"] if it["role"] == "tool"]
    assert [it["tool_call_id"] for it in results] == ["call_1", "call_2"]
    assert "error" in str(results[1]["content"]).lower()
    assert str(sent["messages"]).count(PNG) == 2


def test_results_are_sent_to_gemini(served: Any) -> None:
    sent = sent_with_results(served, "google:gemini-2.5-flash")
    parts = [part for content in sent["contents"] for part in content["parts"]]
    results = [part["functionResponse"] for part in parts if "functionResponse" in part]
    assert "seen" in str(results[0]["response"])
    assert results[1]["response"] == {"error": "no such file"}
    assert sum("inlineData" in part for part in parts) == 2


def marked(blocks: Any) -> list[int]:
    return [at for at, block in enumerate(blocks) if "cache_control" in block]


def cached(served: Any, cache: Cache = Cache.SHORT, env: dict[str, str] | None = None) -> Any:
    model, server = served(CLAUDE, hello(), env=env or {})
    turns = [user("One"), said("Two"), user("Three"), said("Four"), user("Five", "Six")]
    asked = request(CLAUDE, *turns, system=("A", "B", "C"), tools=[READ, READ], stable=2)
    ask(model, asked._replace(cache=cache))
    return server.last.body


def test_the_cache_is_marked_where_a_prompt_lasts(served: Any) -> None:
    sent = cached(served)
    assert marked(sent["system"]) == [1]
    assert marked(sent["tools"]) == [1]
    assert [marked(message["content"]) for message in sent["messages"]] == [[], [], [0], [], [1]]
    assert sent["system"][1]["cache_control"] == {"type": "ephemeral"}
    assert cached(served, Cache.LONG)["system"][1]["cache_control"]["ttl"] == "1h"


@pytest.mark.parametrize(
    ("env", "is_cached"),
    [
        ({"DISABLE_PROMPT_CACHING": "1"}, False),
        ({"DISABLE_PROMPT_CACHING_OPUS": "true"}, False),
        ({"DISABLE_PROMPT_CACHING_SONNET": "1"}, True),
        ({"DISABLE_PROMPT_CACHING": "0"}, True),
    ],
)
def test_switches_of_the_cache(served: Any, env: dict[str, str], is_cached: bool) -> None:
    assert ("cache_control" in str(cached(served, env=env))) is is_cached
    assert "cache_control" not in str(cached(served, Cache.OFF))


def test_openai_gets_one_key_for_a_conversation(served: Any) -> None:
    keys = []
    for turns in ([user("One")], [user("One"), said("Two"), user("Three")], [user("Other")]):
        model, server = served("openai:gpt-5.1", hello())
        ask(model, request("openai:gpt-5.1", *turns))
        keys.append(server.last.body["prompt_cache_key"])
    assert keys[0] == keys[1] != keys[2]


def sent_effort(served: Any, name: str, **more: Any) -> Any:
    wire = next(it for it in MODELS if it.split(":")[0] == name.split(":")[0])
    model, server = served(wire, hello())
    ask(model, request(name, **more))
    return server.last.body


def test_effort_as_anthropic_has_it(served: Any) -> None:
    sent = sent_effort(served, CLAUDE, effort=Effort.MEDIUM)
    assert sent["thinking"]["type"] == "adaptive"
    assert sent["output_config"]["effort"] == "medium"
    plain = sent_effort(served, CLAUDE)
    assert not {"thinking", "output_config"} & plain.keys()
    older = "anthropic:claude-haiku-4-5"
    sent = sent_effort(served, older, effort=Effort.HIGH, max_output=5000)
    assert sent["thinking"] == {"type": "enabled", "budget_tokens": 3976}
    assert sent["max_tokens"] == 5000
    sent = sent_effort(served, older, effort=2000, max_output=5000)
    assert sent["thinking"]["budget_tokens"] == 2000
    assert "thinking" not in sent_effort(served, older, effort=Effort.HIGH, max_output=1500)
    off = sent_effort(served, CLAUDE, effort=Effort.MAX, thinking=Thinking.OFF)
    assert off.get("thinking", {}).get("type", "disabled") == "disabled"
    assert off["output_config"]["effort"] == "high"


def test_effort_as_openai_has_it(served: Any) -> None:
    sent = sent_effort(served, "openai:gpt-5.1", effort=Effort.LOW, thinking=Thinking.ON)
    assert sent["reasoning"] == {"effort": "low", "summary": "auto"}
    assert sent_effort(served, "openai:gpt-5.1", effort=30_000)["reasoning"]["effort"]
    assert "reasoning_effort" not in sent_effort(served, "openai-chat:gpt-4.1", effort=Effort.HIGH)
    off = sent_effort(served, "openai:gpt-5.1", thinking=Thinking.OFF)
    assert off["reasoning"]["effort"] == "none"


def test_effort_as_gemini_has_it(served: Any) -> None:
    def config(name: str, **more: Any) -> Any:
        return sent_effort(served, name, **more)["generationConfig"].get("thinkingConfig")

    flash = "google:gemini-2.5-flash"
    assert config(flash, effort=5000) == {"thinking_budget": 5000, "include_thoughts": True}
    assert config(flash, thinking=Thinking.OFF) == {"thinking_budget": 0}
    assert config(flash) is None
    level = config("google:gemini-3-pro-preview", effort=Effort.HIGH)["thinking_level"]
    assert level.lower() == "high"


def test_thoughts_go_back_verbatim_to_anthropic(served: Any) -> None:
    parts: list[Part] = [Thought("Hm", "c2ln"), Thought("", "ZW5j", is_redacted=True), *CALLS[:1]]
    model, server = served(CLAUDE, Reply(parts), hello())
    answer = ask(model, request(CLAUDE, tools=[READ]))
    turns = [
        user("Hello"),
        said(*answer.blocks, **answer.ended.kept),
        user(returned("call_1", "x")),
    ]
    ask(model, request(CLAUDE, *turns, tools=[READ]))
    back = server.last.body["messages"][1]["content"]
    assert back[0] == {"type": "thinking", "thinking": "Hm", "signature": "c2ln"}
    assert back[1] == {"type": "redacted_thinking", "data": "ZW5j"}


@pytest.mark.parametrize(
    ("name", "signature"),
    [("openai:gpt-5.1", "ZW5jcnlwdGVk"), ("google:gemini-2.5-flash", "c2lnbmF0dXJl")],
)
def test_what_is_signed_goes_back_to_its_provider_alone(
    served: Any, name: str, signature: str
) -> None:
    call = ToolUse("call_1", "Read", {"path": "a"}, signature)
    model, server = served(name, Reply([Thought("", signature), call]), hello(), hello(), hello())
    answer = ask(model, request(name, tools=[READ]))
    assert answer.ended.kept["provider"] == name.split(":")[0]
    back = said(*answer.blocks, **answer.ended.kept)
    turns = [user("Hello"), back, user(returned("call_1", "x"))]
    ask(model, request(name, *turns, tools=[READ]))
    assert signature in str(server.last.body)
    changed = back._replace(content=[{**answer.blocks[-1], "id": "other"}])
    turns = [turns[0], changed, user(returned("other", "x"))]
    ask(model, request(name, *turns, tools=[READ]))
    assert signature not in str(server.last.body)  # a block of it was changed
    foreign, elsewhere = served(CLAUDE, hello())
    ask(foreign, request(CLAUDE, user("Hello"), back, user(returned("call_1", "x"))))
    assert signature not in str(elsewhere.last.body)


A = messages.error
OF = chat.error
G = gemini.error
LATER = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
DAILY = {
    "@type": "type.googleapis.com/google.rpc.QuotaFailure",
    "violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}],
}
DELAY = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "14s"}
GPT, GPT_CHAT, GEMINI = "openai:gpt-5.1", "openai-chat:gpt-4.1", "google:gemini-2.5-flash"
TOO_LONG = (
    "This model's maximum context length is 128000 tokens. However, your messages resulted in "
    "130000 tokens. Please reduce the length of the messages."
)
REFUSALS: list[tuple[str, Refusal, Trouble]] = [
    (CLAUDE, Refusal(401, A("authentication_error", "invalid x-api-key")), Trouble.LOGIN),
    (CLAUDE, Refusal(403, A("permission_error", "not allowed")), Trouble.LOGIN),
    (CLAUDE, Refusal(404, A("not_found_error", "model: claude-x")), Trouble.REQUEST),
    (CLAUDE, Refusal(400, A("invalid_request_error", "messages: empty")), Trouble.REQUEST),
    (
        CLAUDE,
        Refusal(
            400,
            A("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
        ),
        Trouble.TOO_LONG,
    ),
    (
        CLAUDE,
        Refusal(
            400,
            A(
                "invalid_request_error",
                "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000",
            ),
        ),
        Trouble.TOO_LONG,
    ),
    (CLAUDE, Refusal(413, A("request_too_large", "Request exceeds the size")), Trouble.TOO_LONG),
    (
        CLAUDE,
        Refusal(
            400,
            A(
                "invalid_request_error",
                "Your credit balance is too low to access the Anthropic API.",
            ),
        ),
        Trouble.CREDIT,
    ),
    (CLAUDE, Refusal(529, A("overloaded_error", "Overloaded")), Trouble.OVERLOADED),
    (CLAUDE, Refusal(503, "upstream connect error"), Trouble.OVERLOADED),
    (CLAUDE, Refusal(500, A("api_error", "Internal server error")), Trouble.SERVER),
    (CLAUDE, Refusal(408, A("timeout_error", "Timed out")), Trouble.SERVER),
    (GPT, Refusal(401, OF("invalid_request_error", "Bad key", "invalid_api_key")), Trouble.LOGIN),
    (
        GPT,
        Refusal(400, OF("invalid_request_error", "Too long", "context_length_exceeded")),
        Trouble.TOO_LONG,
    ),
    (
        GPT,
        Refusal(
            429, OF("insufficient_quota", "You exceeded your current quota", "insufficient_quota")
        ),
        Trouble.CREDIT,
    ),
    (GPT, Refusal(503, OF("server_error", "The server is overloaded")), Trouble.OVERLOADED),
    (GPT, Refusal(500, OF("server_error", "An error")), Trouble.SERVER),
    (GPT_CHAT, Refusal(400, OF("invalid_request_error", TOO_LONG)), Trouble.TOO_LONG),
    (GPT_CHAT, Refusal(400, OF("invalid_request_error", "Unknown tool")), Trouble.REQUEST),
    (
        GPT_CHAT,
        Refusal(
            400,
            OF("exceed_context_size_error", "the request exceeds the available context size"),
        ),
        Trouble.TOO_LONG,
    ),
    (GPT_CHAT, Refusal(402, OF("billing", "Insufficient Balance")), Trouble.CREDIT),
    (
        GEMINI,
        Refusal(
            400,
            G(
                400,
                "INVALID_ARGUMENT",
                "The input token count (1200000) exceeds the maximum number of tokens "
                "allowed (1048576).",
            ),
        ),
        Trouble.TOO_LONG,
    ),
    (GEMINI, Refusal(429, G(429, "RESOURCE_EXHAUSTED", "Quota", DAILY)), Trouble.CREDIT),
    (GEMINI, Refusal(503, G(503, "UNAVAILABLE", "The model is overloaded.")), Trouble.OVERLOADED),
    (GEMINI, Refusal(500, G(500, "INTERNAL", "An internal error")), Trouble.SERVER),
    (GEMINI, Refusal(403, G(403, "PERMISSION_DENIED", "No")), Trouble.LOGIN),
]


@pytest.mark.parametrize(("name", "refusal", "trouble"), REFUSALS)
@pytest.mark.parametrize("is_streamed", [True, False])
def test_refusals_are_known_by_kind(
    served: Any, name: str, refusal: Refusal, trouble: Trouble, is_streamed: bool
) -> None:
    model, server = served(name, refusal, hello())
    error, events = failure(model, request(name, is_streamed=is_streamed))
    assert error.trouble is trouble
    assert error.status == refusal.status
    assert not error.has_begun
    assert events == []
    assert len(server.requests) == 1  # the library does not try again


@ALL
def test_servers_say_when_to_come_back(served: Any, name: str) -> None:
    bodies = {CLAUDE: A("rate_limit_error", "Slow down"), GEMINI: G(429, "RESOURCE_EXHAUSTED", "x")}
    body = bodies.get(name, OF("requests", "Slow down", "rate_limit_exceeded"))
    model, _ = served(name, Refusal(429, body, {"retry-after": "7"}))
    error, _ = failure(model, request(name))
    assert (error.trouble, error.after_s) == (Trouble.RATE, 7)
    model, _ = served(name, Refusal(429, body, {"retry-after": LATER}))
    error, _ = failure(model, request(name))
    assert error.after_s is not None
    assert 1000 < error.after_s <= 3600


def test_gemini_says_it_in_the_body(served: Any) -> None:
    model, _ = served(GEMINI, Refusal(429, G(429, "RESOURCE_EXHAUSTED", "Quota", DELAY)))
    error, _ = failure(model, request(GEMINI))
    assert (error.trouble, error.after_s) == (Trouble.RATE, 14)


@ALL
@pytest.mark.parametrize("how", [{"cut": True}, {"ends": True}, {"garbage": GARBAGE}])
def test_an_answer_that_breaks_off_is_none(served: Any, name: str, how: dict[str, Any]) -> None:
    at = 1 if name == GEMINI else 5
    model, _ = served(name, hello("Hello", " there", " and", " on", at=at, **how))
    error, events = failure(model, request(name))
    assert error.trouble is Trouble.CONNECTION
    assert error.has_begun is bool(events)
    assert not any(isinstance(event, BlockEnded) for event in events if how.get("cut"))


def test_a_stream_that_ends_before_it_begins_has_begun(served: Any) -> None:
    """So that the answer is asked for in one piece the next time."""
    model, _ = served(GPT_CHAT, Reply([], at=0, ends=True))
    error, events = failure(model, request(GPT_CHAT))
    assert (error.trouble, error.has_begun, events) == (Trouble.CONNECTION, True, [])


def test_a_server_that_cannot_stream_is_not_asked_to_again(served: Any) -> None:
    model, server = served(GPT_CHAT, Reply([], at=0, ends=True), *[hello("Hello")] * 3)
    failure(model, request(GPT_CHAT))
    ask(model, request(GPT_CHAT))  # once is no proof
    assert server.wire.is_streamed(server.last)
    model, server = served(GPT_CHAT, Reply([], at=0, ends=True), *[hello("Hello")] * 2)
    failure(model, request(GPT_CHAT))
    assert ask(model, request(GPT_CHAT, is_streamed=False)).text == "Hello"
    assert ask(model, request(GPT_CHAT)).text == "Hello"
    assert not server.wire.is_streamed(server.last)


@pytest.mark.parametrize(
    ("name", "said_of_it", "trouble"),
    [
        (CLAUDE, A("overloaded_error", "Overloaded"), Trouble.OVERLOADED),
        (CLAUDE, A("api_error", "Internal server error"), Trouble.SERVER),
        (GPT, {"code": "rate_limit_exceeded", "message": "Slow down"}, Trouble.RATE),
        (GPT, {"code": "server_error", "message": "An error"}, Trouble.SERVER),
        (GPT_CHAT, OF("server_error", "An error"), Trouble.SERVER),
    ],
)
def test_an_error_within_a_stream(
    served: Any, name: str, said_of_it: dict[str, Any], trouble: Trouble
) -> None:
    model, _ = served(name, hello("Hello", " there", at=5, error=said_of_it))
    error, events = failure(model, request(name))
    assert error.trouble is trouble
    assert error.has_begun is bool(events)


@ALL
def test_a_server_that_never_answers_is_left(served: Any, name: str) -> None:
    model, server = served(name, Silence(), silence_s=0.2)
    error, _ = failure(model, request(name))
    assert error.trouble is Trouble.CONNECTION
    assert server.hung_up.wait(30)


def test_a_stream_that_says_nothing_more_is_stuck(served: Any) -> None:
    model, server = served(CLAUDE, hello(at=4, holds=True), silence_s=0.3)
    error, events = failure(model, request(CLAUDE))
    assert (error.trouble, error.has_begun, bool(events)) == (Trouble.CONNECTION, True, True)
    assert server.hung_up.wait(30)


def test_a_slow_stream_with_pings_is_fine(served: Any) -> None:
    """It takes longer as a whole than a silence may last."""
    model, _ = served(CLAUDE, hello("a", "b", "c", "d", pause_s=0.3), silence_s=2)
    began = time.monotonic()
    assert ask(model, request(CLAUDE)).text == "abcd"
    assert time.monotonic() - began > 2


@ALL
@pytest.mark.parametrize("how", ["cancelled", "closed"])
def test_who_is_cancelled_or_closed_hangs_up(served: Any, name: str, how: str) -> None:
    at = 1 if name == GEMINI else 5
    model, server = served(name, hello("Hello", " there", " and", " on", at=at, holds=True))

    async def begin(first: asyncio.Event) -> None:
        async with aclosing(model.answer(request(name))) as events:
            async for event in events:
                if isinstance(event, TextDelta):
                    first.set()
                    if how == "closed":
                        return

    async def both() -> None:
        first = asyncio.Event()
        task = asyncio.create_task(begin(first))
        await asyncio.wait_for(first.wait(), 60)
        if how == "cancelled":
            task.cancel()
        await asyncio.wait([task])
        assert task.cancelled() is (how == "cancelled")
        hung_up = await asyncio.to_thread(server.hung_up.wait, 10)
        await model.aclose()
        assert hung_up  # before the connections were closed as a whole

    asyncio.run(both())


def test_a_model_of_ones_own(served: Any) -> None:
    model, server = served(GPT_CHAT, Reply([Text(["Hi"])]))
    answer = ask(model, request("local:qwen3:8b"))
    assert answer.text == "Hi"
    assert server.last.body["model"] == "qwen3:8b"
    assert "o-key" not in str(server.last.headers)
    assert "prompt_cache_key" not in server.last.body
    assert server.last.body["max_tokens"] == 8000


def test_nobody_at_home() -> None:
    model = AnyModel({"SIDING_LOCAL_MODEL_URL": "http://127.0.0.1:9/v1"})
    error, _ = failure(model, Request("local:m", (), [user("Hello")]))
    assert error.trouble is Trouble.CONNECTION
    assert "SIDING_LOCAL_MODEL_URL" in str(error.hint)


def test_a_server_of_ones_own_gets_a_text_with_each_answer(served: Any) -> None:
    """llama.cpp's Python server refuses an answer whose text is null."""
    model, server = served(GPT_CHAT, Reply([Text(["Done."])]))
    call = {"type": "tool_use", "id": "call_1", "name": "Read", "input": {"path": "a"}}
    result = {"type": "tool_result", "tool_use_id": "call_1", "content": "text"}
    said = (user("Read it"), Message("assistant", [call]), Message("user", [result]))
    ask(model, Request("local:m", (), said, tools=[READ]))
    (answer,) = [each for each in server.last.body["messages"] if each["role"] == "assistant"]
    assert answer["content"] == ""
    assert answer["tool_calls"][0]["id"] == "call_1"

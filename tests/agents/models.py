"""A model server on loopback: the Messages API (anthropic-version 2023-06-01), the Responses API,
the Gemini API, and OpenAI's chat completions.

It answers from a script: the n-th request of the conversation gets the n-th answer. A conversation
of a helper has a script of its own, which is known by a word in its first message. Requests without
tools are a client's own (a title, a probe) and get a word. All others are kept.
"""

import json
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain, count, islice
from typing import Any, NamedTuple

from agents.sockets import talk


class Call(NamedTuple):
    """A tool call in an answer."""

    tool: str
    input: Mapping[str, Any]


class Thought(NamedTuple):
    """What the model thinks before it says something; a wire without thoughts leaves it out."""

    text: str


class Pieces(str):
    """A text that is sent word by word."""

    __slots__ = ()

    @property
    def words(self) -> list[str]:
        return [word for word in re.split(r"(?<= )", self) if word]


class Failure(NamedTuple):
    """An answer that is none: the server is overloaded, say."""

    status: int  # of HTTP


class Cut(NamedTuple):
    """An answer that the server does not bring to its end: it hangs up after so many events."""

    text: str
    events: int = 2


class Late(NamedTuple):
    """An answer whose head comes at once, and whose first event comes after a while. (Gemini CLI
    0.61.0 hangs up where there is no head for so long.)"""

    seconds: float
    content: "Sequence[Part]"


class Paced(NamedTuple):
    """An answer whose events come one after the other, with a pause before each."""

    seconds: float
    content: "Sequence[Part]"


class Held(NamedTuple):
    """An answer that begins, and goes on until the client hangs up: a person interrupts it."""

    text: str


class Full(NamedTuple):
    """An answer with which the model's window is full: a client sums up what was said before."""

    content: "Sequence[Part]"


FULL = 600_000  # tokens


class Failed(Exception):
    """A request gets no answer but a status."""

    def __init__(self, status: int) -> None:
        self.status = status


Part = str | Thought | Call
Answer = Sequence["Part"] | Failure | Cut | Late | Paced | Held | Full
Elsewhere = Mapping[str, Sequence[Answer]]


class ModelServer:
    """Answers from `script`; after its end it says that it is done.

    A conversation that begins with a word of `elsewhere` is answered from the script of that word.
    """

    def __init__(
        self,
        script: Sequence[Answer],
        elsewhere: Elsewhere | None = None,
        *,
        answers_all: bool = False,
    ) -> None:
        self.requests: list[dict[str, Any]] = []
        self.sockets = 0  # how many WebSockets were opened
        self.by_newest = False  # the script is that of the word that was said last
        # In place of all scripts: what answers a request, by its messages as JSON.
        self.answers: Callable[[str], Answer] | None = None
        self._script = list(script)
        self._answers_all = answers_all  # also requests without tools: the client has none
        self._elsewhere = {word: list(answers) for word, answers in (elsewhere or {}).items()}
        self._numbers = count(1)
        self.answered: list[int] = []  # the number of each call that was counted
        self._lock = threading.Lock()
        self._cuts: list[int] = []  # how many events the next streams have before they end
        # Of this connection: `seconds` until its stream begins, and the `pause` before each event;
        # whether it is `held` or `full`.
        self._late = threading.local()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_HEAD(self) -> None:
                self._plain({})

            def do_GET(self) -> None:
                outer.get(self, self._plain)

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
                try:
                    answer = outer.answer(self.path, body)
                except Failed as failed:
                    self._fail(failed.status)
                    return
                if isinstance(answer, dict):
                    self._plain(answer)
                else:
                    self._stream(answer)

            def _fail(self, status: int) -> None:
                kind = "overloaded_error" if status > 499 else "invalid_request_error"
                error = {"type": kind, "message": "as the test says", "code": status}
                self._plain({"type": "error", "error": error}, status)

            def _plain(self, answer: Mapping[str, Any], status: int = 200) -> None:
                data = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(data)

            def _stream(self, events: Iterable[dict[str, Any]]) -> None:
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.send_header("connection", "close")
                self.end_headers()
                time.sleep(outer._late.__dict__.pop("seconds", 0))
                cut = outer._cuts.pop() if outer._cuts else None
                if outer._late.__dict__.pop("held", False):
                    _hold(self, [*events])
                else:
                    _say(self, islice(events, cut))
                self.close_connection = True

            def log_message(self, *_words: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def says(self, *script: Answer) -> None:
        """Answer so from now on; the requests until now are forgotten."""
        with self._lock:
            self._script[:] = script
            self.requests.clear()

    @property
    def left_to_say(self) -> Sequence[Answer]:
        return tuple(self._script)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def get(
        self, handler: BaseHTTPRequestHandler, plain: Callable[[Mapping[str, Any]], None]
    ) -> None:
        """Answer what is no question: a list of models, say, or that a WebSocket is opened."""
        if "sec-websocket-key" not in handler.headers:
            plain({"data": []})
            return
        self.sockets += 1
        talk(handler, partial(self.answer, handler.path))

    def answer(self, path: str, body: dict[str, Any]) -> dict[str, Any] | Iterable[dict[str, Any]]:
        """Return what a request gets: an object, or the events of a stream."""
        if path.endswith("/responses"):
            return self._begun(self.responses(body))
        if path.endswith("/chat/completions"):
            return self._begun(self.chunks(body)) if body.get("stream") else self.completion(body)
        if "enerateContent" in path:  # its model is in the address
            body["model"] = path.rpartition("/")[2].partition(":")[0]
        if "streamGenerateContent" in path:
            return self._begun(self.contents(body))
        if "generateContent" in path:
            return self.content(body)
        if "countTokens" in path or "count_tokens" in path:
            return {"input_tokens": 10, "totalTokens": 10}
        return self._begun(self.events(body)) if body.get("stream") else self.message(body)

    def _begun(self, events: Iterator[dict[str, Any]]) -> Iterable[dict[str, Any]]:
        """Return a stream whose first event is there: a failure comes before its headers."""
        first = next(events)
        pause = self._late.__dict__.pop("pause", 0)
        return chain([first], _paced(events, pause) if pause else events)

    @property
    def used(self) -> tuple[int, int, int]:
        """What this server says that was used: tokens in and out, and how many calls."""
        return (
            sum(100 + each for each in self.answered),
            20 * len(self.answered),
            len(self.answered),
        )

    def _counted(self) -> int:
        full = FULL if self._late.__dict__.pop("full", False) else 0
        self.answered.append(next(self._numbers) + full)
        return self.answered[-1]

    def _next(self, body: dict[str, Any]) -> "Sequence[Part]":
        """Return what the script has next for a request. Raises Failed."""
        self.requests.append(body)
        messages = body.get("messages") or body.get("contents") or body.get("input") or ()
        return self._as_it_comes(self._answer_to(messages))

    def _answer_to(self, messages: Sequence[dict[str, Any]]) -> Answer:
        if self.answers is not None:
            return self.answers(json.dumps(messages))
        opening = [*messages[:2], *(it for it in messages if it.get("role") == "developer")]
        text = json.dumps(messages if self.by_newest else opening)
        words = [each for each in self._elsewhere if each in text]
        word = max(words, key=text.rfind) if self.by_newest and words else "".join(words[:1])
        script = self._elsewhere[word] if word else self._script
        return script.pop(0) if script else ["That is all."]

    def _as_it_comes(self, answer: Answer) -> "Sequence[Part]":
        """Return what an answer says, and have it said in its way. Raises Failed."""
        if isinstance(answer, Failure):
            raise Failed(answer.status)
        if isinstance(answer, Late):
            self._late.seconds = answer.seconds
            return answer.content
        if isinstance(answer, Paced):
            self._late.pause = answer.seconds
            return answer.content
        if isinstance(answer, Full):
            self._late.full = True
            return answer.content
        if isinstance(answer, Held):
            self._late.held = True
            return [answer.text]
        if isinstance(answer, Cut):
            self._cuts.append(answer.events)
            return [answer.text]
        return answer

    def message(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the next message for a request."""
        with self._lock:
            answer = self._next(body) if body.get("tools") or self._answers_all else ["ok"]
            number = self._counted()
        content = [_block(part, f"toolu_{number:04d}_{at}") for at, part in enumerate(answer)]
        calls = any(block["type"] == "tool_use" for block in content)
        return {
            "id": f"msg_{number:04d}",
            "type": "message",
            "role": "assistant",
            "model": body.get("model", "a-model"),
            "content": content,
            "stop_reason": "tool_use" if calls else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 100 + number, "output_tokens": 20},
        }

    def events(self, body: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield the next message as the stream's events."""
        message = self.message(body)
        begun = {**message, "content": [], "stop_reason": None}
        yield {"type": "message_start", "message": begun}
        for index, block in enumerate(message["content"]):
            empty, deltas = _streamed(block)
            yield {"type": "content_block_start", "index": index, "content_block": empty}
            for delta in deltas:
                yield {"type": "content_block_delta", "index": index, "delta": delta}
            yield {"type": "content_block_stop", "index": index}
        stopped = {"stop_reason": message["stop_reason"], "stop_sequence": None}
        yield {"type": "message_delta", "delta": stopped, "usage": {"output_tokens": 20}}
        yield {"type": "message_stop"}

    def responses(self, body: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield the next answer as the events of the Responses API."""
        if body.get("generate") is False:  # it is only to be ready
            yield from _warmed()
            return
        with self._lock:
            answer = self._next(body) if body.get("tools") or self._answers_all else ["ok"]
            number = self._counted()
        begun = {"id": f"resp_{number:04d}", "object": "response", "status": "in_progress"}
        yield {"type": "response.created", "response": begun}
        for at, part in enumerate(answer):
            item = _item(part, f"{number:04d}_{at}")
            yield {"type": "response.output_item.added", "output_index": at, "item": item}
            yield from _pieces(part, at, item["id"])
            yield {"type": "response.output_item.done", "output_index": at, "item": item}
        usage = {"input_tokens": 100 + number, "output_tokens": 20, "total_tokens": 120 + number}
        details = {"input_tokens_details": {"cached_tokens": 0}}
        done = {**begun, "status": "completed", "usage": {**usage, **details}}
        yield {"type": "response.completed", "response": done}

    def content(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the next answer as the Gemini API has it."""
        with self._lock:
            answer = self._next(body) if body.get("tools") or self._answers_all else ["ok"]
            number = self._counted()
        parts = [_part(part) for part in answer]
        content = {"role": "model", "parts": parts}
        usage = {"promptTokenCount": 100 + number, "candidatesTokenCount": 20}
        ended = {} if "held" in self._late.__dict__ else {"finishReason": "STOP"}
        return {
            "candidates": [{"content": content, **ended, "index": 0}],
            "usageMetadata": {**usage, "totalTokenCount": 120 + number},
        }

    def contents(self, body: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield the next answer as the events of the Gemini API: a text may come word by word."""
        whole = self.content(body)
        (candidate,) = whole["candidates"]
        *first, last = _in_words(candidate["content"]["parts"])
        for part in first:
            content = {"role": "model", "parts": [part]}
            yield {"candidates": [{"content": content, "index": 0}]}
        content = {**candidate["content"], "parts": [last]}
        yield {**whole, "candidates": [{**candidate, "content": content}]}

    def completion(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the next answer as a chat completion."""
        with self._lock:
            answer = self._next(body) if body.get("tools") or self._answers_all else ["ok"]
            number = self._counted()
        texts = [part for part in answer if isinstance(part, str)]
        said = texts[0] if len(texts) == 1 else "".join(texts)
        thought = "".join(part.text for part in answer if isinstance(part, Thought))
        calls = [
            {
                "index": at,
                "id": f"call_{number:04d}_{at}",
                "type": "function",
                "function": {"name": part.tool, "arguments": json.dumps(dict(part.input))},
            }
            for at, part in enumerate(each for each in answer if isinstance(each, Call))
        ]
        message: dict[str, Any] = {"role": "assistant", "content": said}
        message |= {"tool_calls": calls} if calls else {}
        message |= {"reasoning_content": thought} if thought else {}
        usage = {"prompt_tokens": 100 + number, "completion_tokens": 20}
        return {
            "id": f"chatcmpl-{number:04d}",
            "object": "chat.completion",
            "created": number,
            "model": body.get("model", "a-model"),
            "choices": [
                {
                    "index": 0,
                    "message": message,
                    "finish_reason": "tool_calls" if calls else "stop",
                }
            ],
            "usage": {**usage, "total_tokens": 120 + number},
        }

    def chunks(self, body: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield the next answer as the chunks of a chat completion."""
        whole = self.completion(body)
        (choice,) = whole.pop("choices")
        usage = whole.pop("usage")
        head = {**whole, "object": "chat.completion.chunk"}
        message = choice["message"]
        thought = message.pop("reasoning_content", "")
        words = message["content"].words if isinstance(message["content"], Pieces) else []
        for delta in (
            *([{"reasoning_content": thought}] if thought else []),
            *({"content": word} for word in words[:-1]),
            {**message, "content": words[-1]} if words else message,
        ):
            yield {**head, "choices": [{"index": 0, "delta": {"role": "assistant", **delta}}]}
        ended = {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}
        yield {**head, "choices": [ended], "usage": usage}


def _say(handler: BaseHTTPRequestHandler, events: Iterable[dict[str, Any]]) -> None:
    for event in events:
        named = f"event: {event['type']}\n" if "type" in event else ""
        handler.wfile.write(f"{named}data: {json.dumps(event)}\n\n".encode())


def _hold(handler: BaseHTTPRequestHandler, events: list[dict[str, Any]]) -> None:
    """Say all but the event that ends an answer, and wait until the client is gone."""
    _say(handler, events[: max(1, len(events) - 1)])
    with suppress(OSError):
        handler.connection.recv(1)


def _paced(events: Iterable[dict[str, Any]], seconds: float) -> Iterator[dict[str, Any]]:
    for event in events:
        time.sleep(seconds)
        yield event


def _warmed() -> Iterator[dict[str, Any]]:
    """Yield an answer of nothing, which a client asks for ahead of its first question."""
    response = {"id": "resp_warmed", "object": "response", "status": "completed"}
    usage = {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0}
    yield {"type": "response.created", "response": {**response, "status": "in_progress"}}
    yield {"type": "response.completed", "response": {**response, "usage": usage}}


def _part(part: Part) -> dict[str, Any]:
    """Return a part of an answer of the Gemini API."""
    if isinstance(part, str):
        return {"text": part}
    if isinstance(part, Thought):
        return {"text": part.text, "thought": True}
    return {"functionCall": {"name": part.tool, "args": dict(part.input)}}


def _in_words(parts: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the parts of an answer of the Gemini API; `Pieces` are a part for each word."""
    found: list[dict[str, Any]] = []
    for part in parts:
        text = part.get("text")
        found += [{"text": word} for word in text.words] if isinstance(text, Pieces) else [{**part}]
    return found


def _pieces(part: Part, at: int, item: str) -> Iterator[dict[str, Any]]:
    """Yield what comes of an item of the Responses API before it is whole."""
    head = {"output_index": at, "item_id": item}
    if isinstance(part, Pieces):
        for word in part.words:
            yield {"type": "response.output_text.delta", **head, "content_index": 0, "delta": word}
    elif isinstance(part, Thought):
        kind = "response.reasoning_summary_text.delta"
        yield {"type": kind, **head, "summary_index": 0, "delta": part.text}


def _item(part: Part, number: str) -> dict[str, Any]:
    if isinstance(part, str):
        content = [{"type": "output_text", "text": part, "annotations": []}]
        return {"type": "message", "id": f"m{number}", "role": "assistant", "content": content}
    if isinstance(part, Thought):
        summary = [{"type": "summary_text", "text": part.text}]
        return {"type": "reasoning", "id": f"r{number}", "summary": summary}
    if part.tool == "apply_patch":  # its input is a text
        call = {"call_id": f"call_{number}", "name": part.tool, "input": part.input["patch"]}
        return {"type": "custom_tool_call", "id": f"f{number}", "status": "completed", **call}
    arguments = json.dumps(dict(part.input))
    space, _, name = part.tool.rpartition("__")  # of a server's tool: mcp__SERVER__NAME
    call = {"call_id": f"call_{number}", "name": name, "arguments": arguments}
    return {
        "type": "function_call",
        "id": f"f{number}",
        **call,
        **({"namespace": space} if space else {}),
    }


def _block(part: Part, call_id: str) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    if isinstance(part, Thought):
        return {"type": "thinking", "thinking": part.text, "signature": "c2lnbmVk"}
    return {"type": "tool_use", "id": call_id, "name": part.tool, "input": dict(part.input)}


def _streamed(block: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return a block as it begins, and its content as deltas."""
    if block["type"] == "text":
        words = block["text"].words if isinstance(block["text"], Pieces) else [block["text"]]
        deltas = [{"type": "text_delta", "text": word} for word in words]
        return {"type": "text", "text": ""}, deltas
    if block["type"] == "thinking":
        thought = {"type": "thinking_delta", "thinking": block["thinking"]}
        signed = {"type": "signature_delta", "signature": block["signature"]}
        return {"type": "thinking", "thinking": "", "signature": ""}, [thought, signed]
    json_of = json.dumps(block["input"])
    return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": json_of}]

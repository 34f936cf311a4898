"""One request by the library: made, sent, told. Importing this imports the library."""

import asyncio
import os
from collections.abc import AsyncGenerator, Iterator
from contextlib import AsyncExitStack, aclosing, contextmanager
from contextvars import ContextVar
from importlib import import_module
from typing import Any

import httpx2
from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.exceptions import UnexpectedModelBehavior
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, UserPromptPart
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings

from siding.agents.own.providers import Provider, Wire
from siding.assistant.loop.model import (
    Cache,
    Ended,
    ModelError,
    ModelEvent,
    Request,
    Started,
    Trouble,
)
from siding.assistant.models import wires
from siding.assistant.models.names import Access, Named, limits_of
from siding.assistant.models.stream import OutOfOrder, Telling, failure, usage_of
from siding.ground.installation import adding
from siding.ground.namedtuples import NamedTuple

_NOTED: ContextVar[list[httpx2.Response] | None] = ContextVar("responses", default=None)


# -- The HTTP client -------------------------------------------------------------------------------


class Patience(NamedTuple):
    """How long a server may take, in seconds.

    `silence`: between two bytes of a stream; a ping is one. `whole`: until the first byte of an
    answer that is not streamed.
    """

    connect: float = 15
    silence: float = 300
    whole: float = 900


@contextmanager
def noted() -> Iterator[list[httpx2.Response]]:
    """Yield the list of the responses that begin meanwhile, for whoever has to hang up on them.

    Google's library does not: closed, it leaves its connection to the garbage collector.
    """
    responses: list[httpx2.Response] = []
    token = _NOTED.set(responses)
    try:
        yield responses
    finally:
        _NOTED.reset(token)


async def _note(response: httpx2.Response) -> None:
    responses = _NOTED.get()
    if responses is not None:
        responses.append(response)


def client(patience: Patience, *, is_streamed: bool) -> httpx2.AsyncClient:
    """Return a client that gives up on a server which says nothing. It follows no redirect.

    (A key in a header of the provider's own would go to wherever the redirect leads.)
    """
    read = patience.silence if is_streamed else patience.whole
    return httpx2.AsyncClient(
        timeout=httpx2.Timeout(connect=patience.connect, read=read, write=60, pool=None),
        event_hooks={"response": [_note]},
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=20),
    )


# -- One request -----------------------------------------------------------------------------------


class _Sent(NamedTuple):
    messages: list[ModelMessage]
    settings: ModelSettings
    parameters: ModelRequestParameters


class Requests:
    """Sends requests. Connections are those of one event loop, and stay for the next request."""

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._made: dict[tuple[object, ...], Model] = {}
        self._clients: list[Any] = []
        self._loop: object = None
        self._broken: set[Named] = set()  # whose stream ended before it began
        self._in_one_piece: set[Named] = set()  # that answered when it was not streamed

    async def answer(
        self, request: Request, model: Named, row: Provider, access: Access
    ) -> AsyncGenerator[ModelEvent, None]:
        """See `Model.answer`."""
        is_streamed = request.is_streamed and model not in self._in_one_piece
        made = self._model(model, row, access, is_streamed=is_streamed)
        sent = _prepare(request, model, row, access, made)
        telling = Telling(keeps_signatures=row.wire_of(model.name) is Wire.MESSAGES)
        has_begun = False
        try:
            events = _streamed if is_streamed else _whole
            async with aclosing(events(made, sent, telling, model.provider)) as told:
                async for event in told:
                    has_begun = True
                    yield event
            if not is_streamed and model in self._broken:
                self._in_one_piece.add(model)  # or each answer would fail once first
        except (ModelError, GeneratorExit, asyncio.CancelledError):
            raise
        except OutOfOrder:
            raise ModelError(
                Trouble.CONNECTION, "the blocks of the answer came mixed", has_begun=has_begun
            ) from None
        # A library fails as it likes on what is not as the protocol says.
        except Exception as error:
            if not has_begun and isinstance(error, UnexpectedModelBehavior):
                self._broken.add(model)
            raise failure(error, row, has_begun=has_begun) from error

    def _model(self, model: Named, row: Provider, access: Access, *, is_streamed: bool) -> Model:
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._made, self._clients, self._loop = {}, [], loop
        key = (model, access.key, access.url, is_streamed)
        if key not in self._made:
            self._made[key] = self._make(model, row, access, is_streamed=is_streamed)
        return self._made[key]

    def _make(self, model: Named, row: Provider, access: Access, *, is_streamed: bool) -> Model:
        module, maker = row.maker
        try:
            make = getattr(import_module(f"siding.assistant.models.makers.{module}"), maker)
        except ImportError as error:
            raise missing(row.extra, error) from None
        http = client(self._patience, is_streamed=is_streamed)
        self._clients.append(http)
        try:
            made = make(model.name, access, http)
        except ModelError:
            raise
        except Exception as error:  # each library has its own for what it lacks
            said = " ".join(str(error).split())
            raise ModelError(
                Trouble.SETUP,
                f"{row.prefix} is not set up: {said}",
                hint="docs/reference/agent-models.md says which variables it needs",
            ) from error
        assert isinstance(made, Model)
        return made

    async def close(self) -> None:
        """Hang up all connections that wait for a next request."""
        clients, self._clients, self._made = self._clients, [], {}
        for each in clients:
            await each.aclose()


def missing(extra: str, error: ImportError) -> ModelError:
    """Return that a library is not installed."""
    return ModelError(
        Trouble.SETUP,
        f"a library for this model is not installed ({error.name or error})",
        hint=adding(extra),
    )


def _prepare(request: Request, model: Named, row: Provider, access: Access, made: Model) -> _Sent:
    wire = row.wire_of(model.name)
    most = request.max_output or limits_of(model.name).output
    settings: dict[str, Any] = {
        "max_tokens": most,
        "max_retries": 0,
        **wires.settings(wire, request, dict(made.profile), most),
    }
    cache = wires.wanted(request, model.name, access.environment)
    if wire is Wire.MESSAGES:
        settings["extra_body"] = wires.body(request, cache)
        # What is really sent is in the body above.
        prompt: list[ModelMessage] = [ModelRequest(parts=[UserPromptPart(content="-")])]
        return _Sent(prompt, _typed(settings), ModelRequestParameters())
    if wire is Wire.RESPONSES:
        settings["openai_store"] = False
    if row.prefix in ("openai", "openai-chat", "azure") and cache is not Cache.OFF:
        settings["openai_prompt_cache_key"] = wires.key_of(request)
    return _Sent(
        wires.messages(request, model.provider),
        _typed(settings),
        wires.parameters(request),
    )


def _typed(settings: dict[str, Any]) -> ModelSettings:
    return settings  # type: ignore[return-value]  # of several kinds, each with its own prefix


async def _streamed(
    made: Model, sent: _Sent, telling: Telling, provider: str
) -> AsyncGenerator[ModelEvent, None]:
    is_started = False
    async with AsyncExitStack() as stack:
        with noted() as responses:
            stream = await stack.enter_async_context(
                model_request_stream(
                    made,
                    sent.messages,
                    model_settings=sent.settings,
                    model_request_parameters=sent.parameters,
                )
            )
        for response in responses:
            stack.push_async_callback(response.aclose)
        async for event in stream:
            if not is_started:
                is_started = True
                yield _started(stream.get())
            for told in telling.tell(event):
                yield told
        answer = stream.get()
    if not is_started:
        yield _started(answer)
    yield _ended(answer, telling, provider)


async def _whole(
    made: Model, sent: _Sent, telling: Telling, provider: str
) -> AsyncGenerator[ModelEvent, None]:
    answer = await model_request(
        made,
        sent.messages,
        model_settings=sent.settings,
        model_request_parameters=sent.parameters,
    )
    yield _started(answer)
    for told in telling.tell_all(answer):
        yield told
    yield _ended(answer, telling, provider)


def _started(answer: ModelResponse) -> Started:
    made_up = f"msg_{os.urandom(12).hex()}"
    usage = usage_of(answer.usage)
    return Started(answer.provider_response_id or made_up, answer.model_name or "", usage)


def _ended(answer: ModelResponse, telling: Telling, provider: str) -> Ended:
    reason = telling.reason(answer)
    if reason is None:
        raise ModelError(
            Trouble.CONNECTION, "the answer broke off: its end never came", has_begun=True
        )
    kept = wires.kept(answer, provider, is_in_blocks=telling.keeps_signatures)
    return Ended(reason, usage_of(answer.usage), kept)

"""The models of all providers behind one door. Libraries are imported with the first request."""

import threading
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, suppress
from time import time
from typing import TYPE_CHECKING, NoReturn

from siding.agents.own.providers import PROVIDERS
from siding.assistant.loop.model import Limits, ModelError, ModelEvent, Request, Trouble, Usage
from siding.assistant.models.names import Named, access, limits_of, named
from siding.assistant.models.scripted import PROVIDER as SCRIPTED
from siding.assistant.models.scripted import ScriptedModel
from siding.ground.installation import adding
from siding.usage.prices import Prices

if TYPE_CHECKING:
    from siding.assistant.models.requests import Requests

_ALL = frozenset({SCRIPTED, *PROVIDERS})
# As genai-prices calls providers; what it does not know is looked for by the model's name.
_PRICED = {"openai-chat": "openai", "bedrock": "aws", "vertex": "google"}


class AnyModel:
    """Implements `Model`.

    `environment` has the keys and the switches. `prices` are the person's own and the library's.
    `silence_s`: a stream that says nothing for so long is stuck; `whole_s`: how long an answer that
    is not streamed may take; `connect_s`: how long a connection.
    """

    def __init__(
        self,
        environment: Mapping[str, str],
        *,
        prices: Prices | None = None,
        connect_s: float = 15,
        silence_s: float = 300,
        whole_s: float = 900,
    ) -> None:
        self._environment = environment
        self._prices = prices or Prices({})
        self._patience = (connect_s, silence_s, whole_s)
        self._scripted = ScriptedModel()
        self._requests: Requests | None = None

    async def answer(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        """See `Model.answer`."""
        model = named(request.model, _ALL)
        if model.provider == SCRIPTED:
            events = self._scripted.answer(request)
        else:
            row = PROVIDERS[model.provider]
            reached = access(row, self._environment)
            events = self._library().answer(request, model, row, reached)
        async with aclosing(events):
            async for event in events:
                yield event

    def warm(self, model: str) -> threading.Thread | None:
        """Import the libraries of a model in the background; return the thread, if any."""
        found = named(model, _ALL)
        if found.provider == SCRIPTED:
            return None
        thread = threading.Thread(target=_warm, args=(found,), name="models", daemon=True)
        thread.start()
        return thread

    def limits(self, model: str) -> Limits:
        """See `Model.limits`."""
        found = named(model, _ALL)
        if found.provider == SCRIPTED:
            return self._scripted.limits(model)
        return limits_of(found.name)

    def dollars(self, model: str, usage: Usage) -> float | None:
        """See `Model.dollars`. A model of one's own costs nothing, if it has no price."""
        found = named(model, _ALL)
        if found.provider == SCRIPTED:
            return self._scripted.dollars(model, usage)
        provider = _PRICED.get(found.provider, found.provider)
        rates = self._prices.rates(provider, found.name, int(time() * 1000), usage.prompt)
        if rates is None:
            return 0.0 if found.provider == "local" else None
        return (
            usage.input * rates.input
            + usage.cache_read * rates.cache_read
            + usage.cache_write * rates.cache_write_5m
            + usage.output * rates.output
        )

    async def aclose(self) -> None:
        """Hang up all connections."""
        if self._requests is not None:
            await self._requests.close()

    def _library(self) -> "Requests":
        if self._requests is None:
            try:
                from siding.assistant.models.requests import Patience, Requests
            except ImportError as error:
                _missing(error)
            self._requests = Requests(Patience(*self._patience))
        return self._requests


def _missing(error: ImportError) -> NoReturn:
    raise ModelError(
        Trouble.SETUP,
        f"the library that talks to models is not installed ({error.name or error})",
        hint=adding("agent"),
    ) from None


def _warm(model: Named) -> None:
    """Import ahead; what is missing is told when it is asked."""
    from importlib import import_module

    module, _ = PROVIDERS[model.provider].maker
    with suppress(ImportError):
        import_module("siding.assistant.models.requests")
        import_module(f"siding.assistant.models.makers.{module}")

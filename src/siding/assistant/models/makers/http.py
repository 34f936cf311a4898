"""The HTTP client of requests to models."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import httpx2

from siding.ground.namedtuples import NamedTuple


class Patience(NamedTuple):
    """How long a server may take, in seconds.

    `silence`: between two bytes of a stream; a ping is one. `whole`: until the first byte of an
    answer that is not streamed.
    """

    connect: float = 15
    silence: float = 300
    whole: float = 900


_NOTED: ContextVar[list[httpx2.Response] | None] = ContextVar("responses", default=None)


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

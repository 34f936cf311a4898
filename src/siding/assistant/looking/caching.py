"""Where a prompt cache was missed between two requests of a conversation, and the likely cause.

A provider reads what it has kept of a prompt from its beginning to the first change. So a request
that reads less than the one before it had kept has missed: something near the beginning changed,
or the provider had dropped it. The transcript tells which of the known causes there was.
"""

from collections.abc import Sequence
from enum import StrEnum
from itertools import pairwise

from siding.agents.transcripts.kinds import moment
from siding.assistant.looking.turns import ModelRequest
from siding.ground.namedtuples import NamedTuple

SHORT_MS = 5 * 60 * 1000  # as long as a provider keeps a prompt, if nothing longer was asked for
LONG_MS = 60 * 60 * 1000


class MissCause(StrEnum):
    """Why a cache was missed, as far as the transcript tells."""

    MODEL = "another model was asked"
    COMPACTED = "the conversation was summed up in between"
    HOUR = "more than an hour has passed"
    MINUTES = "more than 5 minutes have passed"
    VERSION = "another version of Siding asked"
    UNKNOWN = "the system prompt, the tools or an old message changed, or the provider dropped it"


class CacheMiss(NamedTuple):
    """A request that found less than was kept. Tokens."""

    number: int  # of the request, from 1
    request: ModelRequest
    kept: int  # by the request before it
    cause: MissCause

    @property
    def lost(self) -> int:
        """What had to be read anew."""
        return self.kept - self.request.cache_read


class CacheUse(NamedTuple):
    """How a conversation used the provider's cache."""

    requests: tuple[ModelRequest, ...]
    misses: tuple[CacheMiss, ...]

    @property
    def is_cached(self) -> bool:
        """Whether any request has read or kept anything."""
        return any(each.cache_read or each.cache_write for each in self.requests)


def cache_use(requests: Sequence[ModelRequest]) -> CacheUse:
    """Return where the cache was missed."""
    misses = []
    for number, (before, now) in enumerate(pairwise(requests), start=2):
        kept = before.cache_read + before.cache_write
        if now.cache_read < kept:
            misses.append(CacheMiss(number, now, kept, _cause(before, now)))
    return CacheUse(tuple(requests), tuple(misses))


def _cause(before: ModelRequest, now: ModelRequest) -> MissCause:
    apart = (moment(now.at) or 0) - (moment(before.at) or 0)
    causes = (
        (now.model != before.model, MissCause.MODEL),
        (now.after_compaction, MissCause.COMPACTED),
        (apart > LONG_MS, MissCause.HOUR),
        (apart > SHORT_MS, MissCause.MINUTES),
        (now.version != before.version, MissCause.VERSION),
    )
    return next((cause for holds, cause in causes if holds), MissCause.UNKNOWN)

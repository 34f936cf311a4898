"""The values of counting: one meaning of the numbers for all clients.

`input` is what was sent and not cached, `cache_read` what came from a cache, `cache_write` what was
put into one (for five minutes, or for an hour), `output` all that the model wrote. `reasoning` is
the part of `output` that was thought; 0 where a client does not say. So the sum of all tokens is
input + cache_read + cache_write_5m + cache_write_1h + output, for every client.
"""

from msgspec import Struct

from siding.ground.namedtuples import NamedTuple

UNKNOWN_MODEL = "(unknown)"


class Tokens(NamedTuple):
    """Counts of tokens, and of calls to a model."""

    input: int = 0
    cache_read: int = 0
    cache_write_5m: int = 0
    cache_write_1h: int = 0
    output: int = 0
    reasoning: int = 0
    calls: int = 0

    def plus(self, other: "Tokens") -> "Tokens":
        """Return the sum of both."""
        return Tokens(*(one + two for one, two in zip(self, other, strict=True)))

    def less(self, other: "Tokens") -> "Tokens":
        """Return the difference, in which nothing is below zero."""
        return Tokens(*(max(0, one - two) for one, two in zip(self, other, strict=True)))

    @property
    def cache_write(self) -> int:
        """What was put into a cache, for however long."""
        return self.cache_write_5m + self.cache_write_1h

    @property
    def sent(self) -> int:
        """The whole context of a call, cached or not."""
        return self.input + self.cache_read + self.cache_write

    @property
    def total(self) -> int:
        """The number of tokens of all kinds."""
        return self.sent + self.output


class Call(Struct, array_like=True, gc=False):
    """One call to a model, as a client has it. It is kept in the cache as it stands here.

    `key`: the same in all copies of it, "" if the client gives it no name. `at`: milliseconds since
    1970, 0 if not known. `turn`: the number of the prompt in its session. `is_copy`: the client
    says that the line was copied from another conversation. `cost`: dollars as the client counted
    them, None if it does not.
    """

    key: str
    at: int
    model: str
    provider: str
    cwd: str
    turn: int
    tokens: Tokens
    is_copy: bool = False
    cost: float | None = None


class Counted(Struct):
    """The calls of one conversation in one file, and where its reading goes on.

    `parent`: the session that it was forked from. `stated`: what the client's running total says
    of each model. The rest is the state of the reading: `model`, `provider`, `cwd`, `turn` of the
    next call, `total` and `shares` for clients that count running totals.
    """

    session: str
    calls: list[Call] = []
    parent: str = ""
    stated: dict[str, Tokens] = {}
    model: str = ""
    provider: str = ""
    cwd: str = ""
    turn: int = 0
    total: tuple[int, ...] | None = None
    began: int = 0

    def add(self, call: Call) -> None:
        """Add a call; the same one again only counts if it is larger."""
        if self.calls and call.key and self.calls[-1].key == call.key:
            if call.tokens.total > self.calls[-1].tokens.total:
                call.at, call.turn = self.calls[-1].at, self.calls[-1].turn
                self.calls[-1] = call
            return
        self.calls.append(call)

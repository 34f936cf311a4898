"""What can be chosen in a conversation: its model, its mode, and how much the model thinks.

Agents say it in two ways. `configOptions` are preferred: they are read back when one is set. In
the older way there are `modes` and `models`, and nothing is read back.
"""

from collections.abc import Mapping
from typing import Any

from siding.agents.talking.port import Applied, Offered, OwnModel
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mapping, mappings, text

# What the port calls it, and what the protocol does.
_CATEGORIES = {"model": "model", "mode": "mode", "thought_level": "effort"}


class Value(NamedTuple):
    """One of a list."""

    id: str
    name: str = ""

    @property
    def word(self) -> str:
        """The id, short: some are addresses of which the end says what it is."""
        return self.id.rpartition("#")[2] if "://" in self.id else self.id


class Chooser(NamedTuple):
    """A list, and what of it holds."""

    values: tuple[Value, ...]
    now: str  # an id
    option: str = ""  # its id among the `configOptions`; "" in the older way

    def find(self, wanted: str) -> Value | None:
        """Return the value that a person means: by its id, else by its name if only one has it."""
        for each in self.values:
            if wanted in (each.id, each.word):
                return each
        named = [each for each in self.values if each.name.casefold() == wanted.casefold()]
        return named[0] if len(named) == 1 else None

    @property
    def word(self) -> str:
        return Value(id=self.now).word


class Choices:
    """All that can be chosen, by `model`, `mode` and `effort`."""

    def __init__(self) -> None:
        self._by_kind: dict[str, Chooser] = {}

    def of(self, kind: str) -> Chooser | None:
        return self._by_kind.get(kind)

    def take(self, said: Mapping[str, Any]) -> None:
        """Take what an answer or an update says; what it does not speak of stays."""
        for kind in ("model", "mode"):
            self._older(kind, mapping(said.get(f"{kind}s")))
        for option in mappings(said.get("configOptions")):
            kind = _CATEGORIES.get(text(option.get("category")), "")
            if kind and option.get("type") == "select":
                self._by_kind[kind] = Chooser(
                    values=tuple(_values(option.get("options"))),
                    now=text(option.get("currentValue")),
                    option=text(option.get("id")),
                )

    def holds(self, kind: str, value: str) -> None:
        """Take note of what holds now."""
        if kind in self._by_kind:
            self._by_kind[kind] = self._by_kind[kind]._replace(now=value)

    @property
    def applied(self) -> Applied:
        words = {kind: chooser.word for kind, chooser in self._by_kind.items()}
        return Applied(**words)

    @property
    def offered(self) -> Offered:
        """The models and efforts that can be chosen."""
        model, effort = self._by_kind.get("model"), self._by_kind.get("effort")
        models = () if model is None else model.values
        return Offered(
            models=tuple(OwnModel(each.word, each.name) for each in models),
            efforts=() if effort is None else tuple(each.word for each in effort.values),
        )

    def _older(self, kind: str, said: Mapping[str, Any]) -> None:
        kept = said.get(f"available{kind.capitalize()}s")
        if isinstance(kept, list):
            key = "modelId" if kind == "model" else "id"
            self._by_kind[kind] = Chooser(
                values=tuple(
                    Value(id=text(each.get(key)), name=text(each.get("name")))
                    for each in mappings(kept)
                ),
                now=text(said.get(f"current{kind.capitalize()}Id")),
            )


def _values(options: object) -> list[Value]:
    """Return the values of a list, in which there may be groups."""
    found = []
    for each in mappings(options):
        if "options" in each:
            found += _values(each["options"])
        else:
            found.append(Value(id=text(each.get("value")), name=text(each.get("name"))))
    return found

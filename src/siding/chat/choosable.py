"""What can be chosen with an agent: its modes, models and efforts, as its story says."""

from collections.abc import Mapping, Sequence
from typing import Any

from siding.chat.talk import Talk
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mappings, strings, text


class Choice(NamedTuple):
    """One value. `reads_as` is by what the agent says that it holds."""

    value: str
    name: str = ""
    reads_as: str = ""
    efforts: tuple[str, ...] = ()


class Choosable(NamedTuple):
    """What an agent has said that can be chosen."""

    modes: tuple[str, ...] = ()
    models: tuple[Choice, ...] = ()
    efforts: tuple[str, ...] = ()

    def after(self, line: Mapping[str, Any]) -> "Choosable":
        """Return it after one more line of the story."""
        match line.get("event"):
            case "opened":
                return self._replace(modes=tuple(strings(line.get("modes"))))
            case "switched":
                return Choosable()
            case "offered":
                models = tuple(
                    Choice(
                        text(each.get("word")),
                        text(each.get("name")),
                        text(each.get("reads_as")),
                        tuple(strings(each.get("efforts"))),
                    )
                    for each in mappings(line.get("models"))
                )
                return self._replace(models=models, efforts=tuple(strings(line.get("efforts"))))
        return self

    def values(self, kind: str, talk: Talk, chosen: Mapping[str, str]) -> Sequence[Choice]:
        """Return what can be chosen now; none where the agent has said no list.

        `chosen` is what whoever looks has chosen last, by kind: agents read several values back by
        the same name.
        """
        if kind == "mode":
            return [Choice(each) for each in self.modes]
        if kind == "model":
            return self.models
        model = self._now(self.models, talk.model, chosen.get("model", ""))
        return [Choice(each) for each in (model.efforts if model else ()) or self.efforts]

    def now(self, kind: str, talk: Talk, chosen: Mapping[str, str]) -> Choice | None:
        """Return the value that holds; None if it is none of the list."""
        values = self.values(kind, talk, chosen)
        return self._now(values, getattr(talk, kind), chosen.get(kind, ""))

    def _now(self, values: Sequence[Choice], holds: str, chosen: str) -> Choice | None:
        fits = [each for each in values if holds in (each.value, each.reads_as)]
        first = [each for each in fits if each.value in (chosen, holds)]
        return next(iter([*first, *fits]), None)

"""The models that Claude Code lists as it is opened."""

from collections.abc import Mapping
from typing import Any

from siding.agents.talking.port import Offered, OwnModel
from siding.ground.storage.fields import mappings, strings, text


def offered_in(answer: Mapping[str, Any]) -> list[Offered]:
    """Return the lists of an answer to `initialize`; [] where it has none, as older versions."""
    models = tuple(
        OwnModel(
            word=text(each.get("value")),
            name=text(each.get("displayName")),
            reads_as=text(each.get("resolvedModel")),
            efforts=tuple(strings(each.get("supportedEffortLevels"))),
        )
        for each in mappings(answer.get("models"))
        if text(each.get("value"))
    )
    return [Offered(models)] if models else []

"""The models that Codex lists."""

from collections.abc import Mapping
from typing import Any

from siding.agents.talking.port import Offered, OwnModel
from siding.ground.storage.fields import mappings, text


def offered_in(listed: Mapping[str, Any]) -> list[Offered]:
    """Return the lists of an answer to `model/list`; [] where it has none."""
    models = tuple(
        OwnModel(
            word=text(each.get("model")),
            name=text(each.get("displayName")),
            efforts=tuple(
                text(effort.get("reasoningEffort"))
                for effort in mappings(each.get("supportedReasoningEfforts"))
            ),
        )
        for each in mappings(listed.get("data"))
        if text(each.get("model")) and each.get("hidden") is not True
    )
    return [Offered(models)] if models else []

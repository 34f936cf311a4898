"""Workflows within a workflow whose scripts were edited since a run called them."""

from collections.abc import Mapping
from typing import Any

from siding.workflows.engine.ports import Sources
from siding.workflows.errors import WorkflowNotFound
from siding.workflows.journal.store import Recorded

EDITED = "edited"


def source_of(sources: Sources, asked: Mapping[str, Any]) -> str:
    """Return the source that a call of `workflow` asks for. Raises WorkflowNotFound."""
    return sources.named(asked["name"]) if "name" in asked else sources.at(asked["script_path"])


def without_edited(recorded: Recorded, sources: Sources) -> Recorded:
    """Return the record in which each call of a workflow that was edited is to be made again.

    What such a workflow called is compared call by call, as in an edited script. One that is no
    longer found is run as it was recorded.
    """
    answers, scripts = dict(recorded.answers), dict(recorded.scripts)
    for path, answer in recorded.answers.items():
        if answer.kind != "workflow" or answer.outcome != "ok":
            continue
        try:
            source = source_of(sources, answer.result["asked"])
        except (WorkflowNotFound, KeyError):
            continue
        if source == answer.result["output"]:
            continue
        answers[path] = answer._replace(result={"kind": EDITED})
        scripts.update(dict.fromkeys(_within(path, scripts), ""))
    return recorded._replace(answers=answers, scripts=scripts)


def _within(path: str, paths: Mapping[str, str]) -> list[str]:
    return [one for one in paths if one.startswith(f"{path}.w/")]

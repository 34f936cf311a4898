"""What is asked of a workflow: what to run, with what, how far it may go."""

from collections.abc import Mapping
from json import JSONDecodeError, loads
from typing import Any

from siding.ground.errors import UsageError
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.codec import parse_object
from siding.ground.storage.fields import mapping
from siding.workflows.engine.plan import Policy
from siding.workflows.limits import MAX_AGENTS, Limits, clamp_max_concurrency


class WorkflowOptions(NamedTuple):
    """What of a run is kept for its resumption. Tokens and dollars are None for no limit."""

    max_concurrency: int | None = None
    tokens: int | None = None
    dollars: float | None = None
    agent_type: str = ""  # of the calls that name none
    model: str = ""  # of the calls that name none
    sandbox: bool = False

    def limits(self) -> Limits:
        """Return them as the engine's limits."""
        return Limits(
            concurrency=clamp_max_concurrency(self.max_concurrency),
            agents=MAX_AGENTS,
            tokens=self.tokens,
            dollars=self.dollars,
        )

    def as_record(self) -> dict[str, Any]:
        """Return what was given."""
        return {name: value for name, value in self._asdict().items() if value}


def options_from(record: Mapping[str, Any]) -> WorkflowOptions:
    """Read the options that a run has kept; what is not known is left out."""
    known = {name: record[name] for name in WorkflowOptions._fields if name in record}
    return WorkflowOptions(**known)


class ResumeRequest(NamedTuple):
    """How to resume a run: which agents again, the script in the place of the old one, and what all
    its agents may use; None for as before. `reruns_lost` goes on with a damaged journal."""

    policy: Policy = Policy()
    source: str | None = None
    tokens: int | None = None
    dollars: float | None = None
    reruns_lost: bool = False

    def options(self, kept: WorkflowOptions) -> WorkflowOptions:
        """Return the options of a run, with what is asked for in the place of what was kept."""
        return kept._replace(
            tokens=kept.tokens if self.tokens is None else self.tokens,
            dollars=kept.dollars if self.dollars is None else self.dollars,
        )


def workflow_args(given: Any) -> Any:
    """Return the arguments of a run: a text that is a JSON object or list is taken as that."""
    if isinstance(given, str):
        try:
            parsed = loads(given)
        except (JSONDecodeError, RecursionError):
            return given
        return parsed if isinstance(parsed, dict | list) else given
    return given


def args_from_words(words: list[str], text: str | None) -> Any:
    """Return the arguments that a command line gives: ``--args JSON``, or words.

    ``name=text`` is the text as it was typed (``to=1.10`` is no number), ``name:=JSON`` any value.
    Raises UsageError.
    """
    if text is not None and words:
        raise UsageError("arguments are given twice: by --args and by name=value")
    if text is not None:
        return workflow_args(text)
    values: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition("=")
        is_json = name.endswith(":")
        name = name.removesuffix(":")
        if not equals or not name.isidentifier():
            raise UsageError(
                f"{word!r} is no argument of a workflow",
                hint="write name=text or name:=JSON, or give all as --args JSON",
            )
        values[name] = _json(word, value) if is_json else value
    return dict(mapping(values)) if values else None


def _json(word: str, value: str) -> Any:
    """Return the JSON value in an argument. Raises UsageError, also for NaN."""
    try:
        (found,) = parse_object(b'{"":%b}' % value.encode("utf-8", "surrogateescape")).values()
    except ValueError as error:
        name = word.partition(":=")[0]
        raise UsageError(
            f"the value of {word!r} is no JSON: {error}", hint=f"{name}=… gives it as a text"
        ) from None
    return found

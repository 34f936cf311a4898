"""The effort that the built-in agent works with here: shown, and kept for later conversations."""

from siding.assistant.loop.effort import (
    VARIABLE,
    EffortChoice,
    EffortFrom,
    change_effort,
    effort_in_force,
    effort_named,
    told_effort,
)
from siding.assistant.loop.model import Effort
from siding.assistant.settings import NO_FLAGS, keep_effort, values_here
from siding.ground.errors import UsageError
from siding.ground.namedtuples import NamedTuple
from siding.record.place.wiring import App


class EffortHere(NamedTuple):
    """The effort in force. `source`: the file that says it, "" for none. `variable`: as it is set.

    `kept` is what the settings say, in force or not.
    """

    choice: EffortChoice
    source: str = ""
    kept: Effort | int | None = None
    variable: str = ""

    @property
    def text(self) -> str:
        """What is in force, in a sentence or two."""
        told = told_effort(self.choice)
        if self.choice.by is EffortFrom.SETTINGS:
            return told.replace(self.choice.by, f"{self.choice.by} ({self.source})")
        if self.choice.by is EffortFrom.ENVIRONMENT and self.kept is not None:
            return f"{told} The settings say {self.kept}, which does not count meanwhile."
        return told


def effort_here(app: App) -> EffortHere:
    """Return the effort in force. Raises UsageError for settings or a variable that are wrong."""
    values = values_here(app, NO_FLAGS)
    variable = app.env.get(VARIABLE, "")
    choice = effort_in_force(variable=variable, settings=values.effort)
    origin = values.origins.get("effort")
    return EffortHere(choice, "" if origin is None else origin.source, values.effort, variable)


def set_effort(app: App, wanted: str) -> tuple[str, ...]:
    """Keep an effort for all later conversations; return what is to be said of it.

    Raises UsageError for what is no effort, and for `max`, which is never kept.
    """
    before = effort_here(app)
    if effort_named(wanted) is Effort.MAX:
        raise UsageError(
            "`max` is not kept: nobody should go on paying for it without knowing",
            hint="siding agent --effort max, for one conversation",
        )
    change = change_effort(wanted, before.choice)
    keep_effort(app, None if change.clears else change.settings)
    after = effort_here(app)
    if after.choice.by is EffortFrom.SETTINGS and after.kept != change.settings:
        return (
            "Kept, but another file of settings says what counts here.",
            after.text,
        )
    return (change.message,)

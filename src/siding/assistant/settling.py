"""The settings in force for one conversation: of files, the command line and earlier answers."""

from siding.agents.own.hooks import SETTINGS_VARIABLE
from siding.assistant.loop.settings.combining import AgentValues, combined_layers
from siding.assistant.loop.settings.values import SettingsLayer, SettingsLevel
from siding.assistant.settings_files import (
    AgentFlags,
    handed_over,
    layers_here,
    layers_of_flags,
    taken_in,
)
from siding.ground.errors import SidingError
from siding.record.place.project import Project, find_project
from siding.record.place.wiring import App


def values_here(app: App, flags: AgentFlags) -> AgentValues:
    """Return the settings in force. Raises SettingsMistake."""
    return combined_layers(_layers(app, flags))


def with_settings(app: App, flags: AgentFlags) -> App:
    """Return the application with the settings of files in the environment.

    The process of the agent may run in a sandbox, where it cannot read them.
    """
    layers = [each for each in _layers(app, flags) if each.level is not SettingsLevel.FLAGS]
    return app._replace(env={**app.env, SETTINGS_VARIABLE: handed_over(layers)})


def _layers(app: App, flags: AgentFlags) -> list[SettingsLayer]:
    handed = app.env.get(SETTINGS_VARIABLE)
    if handed:
        return [*taken_in(handed), *layers_of_flags(flags, app.cwd)]
    return layers_here(app, project_or_none(app), flags)


def project_or_none(app: App) -> Project | None:
    """Return the project; None where there is none, or where a sandbox hides it."""
    try:
        return find_project(app)
    except SidingError:
        return None

"""Where the settings of the built-in agent are: files, flags, and what a person has answered.

    managed    /etc/siding/agent.yaml
    flags      --settings FILE-OR-JSON, then single flags
    local      the section `agent` of the project's config.yaml; its agent.json
    project    the section `agent` of the repository's .siding/config.yaml
    user       the section `agent` of config.yaml in Siding's home; its agent.json

A later one of a level goes before an earlier one. In a sandbox Siding's home is hidden: whoever
starts the agent there reads the layers outside and hands them over (`handed_over`).

What a person answers is kept in documents: `agent.json` of a project has permissions, that of
Siding's home the effort. Files of settings are people's own, with comments, and are not written to.
"""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from siding.agents.own.hooks import SETTINGS_VARIABLE
from siding.assistant.loop.model import Effort
from siding.assistant.loop.permissions.rules import (
    PermissionRules,
    mode_named,
    parse_allow,
    parse_rules,
    split_list,
)
from siding.assistant.loop.settings import (
    AgentValues,
    SaidSettings,
    SettingsLayer,
    SettingsLevel,
    SettingsMistake,
    as_document,
    combined_layers,
    said_in,
    widening,
)
from siding.ground.errors import SidingError
from siding.ground.files.durable import make_dirs
from siding.ground.files.regular import read_bytes
from siding.ground.hashing import sha256_hex
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.documents import read_document_or_none, write_document
from siding.record.place.project import Project, find_project
from siding.record.place.settings import is_default, parse_settings
from siding.record.place.trust import AGENTS, add, trust_json, trusted_agents
from siding.record.place.wiring import App

if TYPE_CHECKING:
    from siding.assistant.loop.permissions.updates import PermissionUpdate

MANAGED = Path("/etc/siding/agent.yaml")
ANSWERS_VERSION = 1
_LARGEST = 1 << 20  # bytes of a file of settings


# -- What the repository's settings of the built-in agent permit, and a person's trust in them -----
#
# A repository may be somebody else's: what it permits counts once a person has seen exactly that
# (`siding trust`). What it forbids counts at once.


class AskedOfAgent(NamedTuple):
    """What a repository's settings permit, a line for each."""

    layer: SettingsLayer
    lines: tuple[str, ...]
    trusted: bool


def asked_of_agent(project: Project, layer: SettingsLayer | None) -> AskedOfAgent | None:
    """Return what the repository's settings permit; None if that is nothing."""
    lines = [] if layer is None else widening(layer)
    if layer is None or not lines:
        return None
    trusted = _digest(layer) in trusted_agents(trust_json(project))
    return AskedOfAgent(layer, tuple(lines), trusted)


def trusted_layer(project: Project, layer: SettingsLayer | None) -> SettingsLayer | None:
    """Return the repository's layer, trusted if a person has trusted exactly this."""
    asked = asked_of_agent(project, layer)
    return layer if asked is None else asked.layer._replace(is_trusted=asked.trusted)


def trust_agent(project: Project, asked: AskedOfAgent) -> None:
    """Let the repository's settings count exactly as they were found."""
    add(project, AGENTS, _digest(asked.layer), {"asks": list(asked.lines)})


def _digest(layer: SettingsLayer) -> str:
    return sha256_hex(json.dumps(as_document(layer.said), sort_keys=True).encode())


# -- Where the settings of the built-in agent are: files, flags, and what a person has answered ----
#
#     managed    /etc/siding/agent.yaml
#     flags      --settings FILE-OR-JSON, then single flags
#     local      the section `agent` of the project's config.yaml; its agent.json
#     project    the section `agent` of the repository's .siding/config.yaml
#     user       the section `agent` of config.yaml in Siding's home; its agent.json
#
# A later one of a level goes before an earlier one. In a sandbox Siding's home is hidden: whoever
# starts the agent there reads the layers outside and hands them over (`handed_over`).


class AgentFlags(NamedTuple):
    """What the command line says of the settings; `directories` are from the working directory."""

    settings: str | None = None  # a path, or an object of JSON
    model: str | None = None
    fallback_model: str | None = None
    mode: str | None = None
    allowed: Sequence[str] = ()  # lists, separated by commas or white space
    disallowed: Sequence[str] = ()
    directories: Sequence[str] = ()
    max_turns: int | None = None
    max_dollars: float | None = None
    max_tokens: int | None = None


NO_FLAGS = AgentFlags()


def layers_here(
    app: App, project: Project | None, flags: AgentFlags = NO_FLAGS, managed: Path = MANAGED
) -> list[SettingsLayer]:
    """Return all layers. Raises SettingsMistake that names the file or flag, and the key."""
    found = [
        *_section(SettingsLevel.USER, app.home.config_path),
        *_answers(SettingsLevel.USER, app.home.agent_json),
    ]
    if project is not None:
        theirs = trusted_layer(project, repository_settings(project))
        found += [] if theirs is None else [theirs]
        found += _section(SettingsLevel.LOCAL, project.layout.config_yaml)
        found += _answers(SettingsLevel.LOCAL, project.layout.agent_json)
    found += layers_of_flags(flags, app.cwd)
    return [*found, *_whole_file(SettingsLevel.MANAGED, managed)]


def repository_settings(project: Project) -> SettingsLayer | None:
    """Return what the repository says, not trusted; None if it says nothing."""
    main = project.paths.main_worktree
    if main is None:
        return None
    found = _section(SettingsLevel.PROJECT, main / ".siding" / "config.yaml")
    return found[0]._replace(is_trusted=False) if found else None


def layers_of_flags(flags: AgentFlags, cwd: Path) -> list[SettingsLayer]:
    """Return what the command line says. Raises UsageError."""
    found = [] if flags.settings is None else [_given(flags.settings, cwd)]
    allow = [each for text in flags.allowed for each in split_list(text)]
    deny = [each for text in flags.disallowed for each in split_list(text)]
    said = SaidSettings(
        model=flags.model,
        fallback_model=flags.fallback_model,
        mode=None if flags.mode is None else mode_named(flags.mode),
        rules=PermissionRules(
            allow=parse_allow(allow, "--allowed-tools"),
            deny=parse_rules(deny, "--disallowed-tools"),
        ),
        directories=tuple(os.path.realpath(cwd / each) for each in flags.directories),
        max_turns=flags.max_turns,
        max_dollars=flags.max_dollars,
        max_tokens=flags.max_tokens,
    )
    if said != SaidSettings():
        found.append(SettingsLayer(SettingsLevel.FLAGS, "the command line", said))
    return found


def handed_over(layers: Sequence[SettingsLayer]) -> str:
    """Return layers as JSON, for the process of an agent that cannot read their files itself."""
    return json.dumps(
        [
            {
                "level": layer.level.value,
                "source": layer.source,
                "trusted": layer.is_trusted,
                "settings": as_document(layer.said),
            }
            for layer in layers
        ]
    )


def taken_in(text: str) -> list[SettingsLayer]:
    """Return the layers that `handed_over` has written. Raises SettingsMistake."""
    try:
        return [
            SettingsLayer(
                SettingsLevel(each["level"]),
                str(each["source"]),
                said_in(each["settings"], str(each["source"])),
                is_trusted=each["trusted"] is True,
            )
            for each in json.loads(text)
        ]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise SettingsMistake(
            f"the settings that were handed over cannot be read: {error}"
        ) from None


def _given(text: str, cwd: Path) -> SettingsLayer:
    if text.lstrip().startswith("{"):
        try:
            document = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise SettingsMistake(f"--settings is no JSON: {error}") from None
        return SettingsLayer(SettingsLevel.FLAGS, "--settings", said_in(document, "--settings"))
    path = cwd / text
    try:
        (found,) = _whole_file(SettingsLevel.FLAGS, path)
    except (ValueError, OSError):
        raise SettingsMistake(
            f"--settings names {str(path)!r}, which cannot be read",
            hint="a file of YAML or JSON, or an object of JSON",
        ) from None
    return found


def _whole_file(level: SettingsLevel, path: Path) -> list[SettingsLayer]:
    document = _read(path)
    if document is None:
        return []
    document = {key: value for key, value in document.items() if key != "version"}
    return [SettingsLayer(level, str(path), said_in(document, str(path)))]


def _section(level: SettingsLevel, path: Path) -> list[SettingsLayer]:
    document = _read(path)
    if document is None or document.get("agent") is None:
        return []
    return [SettingsLayer(level, str(path), said_in(document["agent"], str(path), "agent."))]


def _answers(level: SettingsLevel, path: Path) -> list[SettingsLayer]:
    document = read_document_or_none(path, what="answers", version=ANSWERS_VERSION)
    if document is None:
        return []
    document = {key: value for key, value in document.items() if key not in ("version", "at")}
    return [SettingsLayer(level, str(path), said_in(document, str(path)))]


def _read(path: Path) -> Mapping[str, Any] | None:
    try:
        raw = read_bytes(path, limit=_LARGEST)
    except FileNotFoundError:
        return None
    return None if is_default(raw) else parse_settings(path, raw)


# -- The settings in force for one conversation: of files, the command line and earlier answers ----


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


# -- What a person answers -------------------------------------------------------------------------


class ProjectAnswers:
    """Keeps permissions for this person, in this project."""

    def __init__(self, project: Project) -> None:
        self._project = project

    async def keep(self, update: "PermissionUpdate") -> None:
        """Keep an update. Raises SidingError and OSError."""
        import asyncio  # whoever begins the run of the agent reads settings, and keeps nothing

        await asyncio.to_thread(self._keep, update)

    def _keep(self, update: "PermissionUpdate") -> None:
        project, path = self._project, self._project.layout.agent_json
        with project.changing("keeping an answer about the agent"):
            document = _document(path)
            permissions = dict(document.get("permissions") or {})
            _extend(permissions, update.behaviour.value, [rule.text for rule in update.rules])
            _extend(permissions, "directories", list(update.directories))
            document = {**document, "permissions": permissions, "at": project.app.now()}
            write_document(path, document)


def keep_effort(app: App, effort: Effort | int | None) -> None:
    """Keep an effort for all projects; None has none any more. Raises SidingError and OSError."""
    make_dirs(app.home.root)
    document = _document(app.home.agent_json)
    document.pop("effort", None)
    if effort is not None:
        document["effort"] = effort.value if isinstance(effort, Effort) else effort
    write_document(app.home.agent_json, {**document, "at": app.now()})


def _document(path: Any) -> dict[str, Any]:
    found = read_document_or_none(path, what="answers", version=ANSWERS_VERSION)
    return {"version": ANSWERS_VERSION, **(found or {})}


def _extend(permissions: dict[str, Any], key: str, more: list[str]) -> None:
    if more:
        permissions[key] = list(dict.fromkeys([*permissions.get(key, ()), *more]))

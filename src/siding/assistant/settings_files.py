"""Where the settings of the built-in agent are: files, flags, and what a person has answered.

    managed    /etc/siding/agent.yaml
    flags      --settings FILE-OR-JSON, then single flags
    local      the section `agent` of the project's config.yaml; its agent.json
    project    the section `agent` of the repository's .siding/config.yaml
    user       the section `agent` of config.yaml in Siding's home; its agent.json

A later one of a level goes before an earlier one. In a sandbox Siding's home is hidden: whoever
starts the agent there reads the layers outside and hands them over (`handed_over`).
"""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from siding.assistant.loop.permissions.modes import mode_named
from siding.assistant.loop.permissions.rules import (
    PermissionRules,
    parse_allow,
    parse_rules,
    split_list,
)
from siding.assistant.loop.settings.combining import as_document
from siding.assistant.loop.settings.values import (
    SaidSettings,
    SettingsLayer,
    SettingsLevel,
    SettingsMistake,
    said_in,
)
from siding.assistant.trusting import trusted_layer
from siding.ground.files.regular import read_bytes
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.documents import read_document_or_none
from siding.record.place.project import Project
from siding.record.place.settings import is_default, parse_settings
from siding.record.place.wiring import App

MANAGED = Path("/etc/siding/agent.yaml")
ANSWERS_VERSION = 1
_LARGEST = 1 << 20  # bytes of a file of settings


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

"""Which agents workflows call: the section `workflows` of settings.

Two files are read: the person's for everything (``config.yaml`` in Siding's home) and the one of
this project, which replaces what it names. A repository has no say in what is started here.
"""

import math
import os
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from siding.agents.headless.port import Level
from siding.ground.errors import UsageError
from siding.ground.files.regular import read_bytes
from siding.ground.namedtuples import NamedTuple
from siding.record.place.project import Project
from siding.record.place.quantities import seconds_in
from siding.record.place.settings import is_default, parse_settings

KEEP_RUNS = 200
NEVER = math.inf  # of a time after which something is ended
ACP, SCRIPTED, COMMAND = "acp", "scripted", "command"  # beside the names of known agents


class Prints(StrEnum):
    """What a program of a person's own prints."""

    TEXT = "text"  # its result
    EVENTS = "events"  # lines of JSON (`agents.headless.output`)


class AgentSettings(NamedTuple):
    """One agent of the settings. "", () and None: as it is usual for the kind of agent."""

    name: str
    agent: str  # a known one, or ACP, SCRIPTED, COMMAND
    command: tuple[str, ...] = ()
    prints: Prints = Prints.TEXT
    answers: str = ""  # the table of a scripted one; in the settings below the main checkout
    model: str = ""
    effort: str = ""
    tools: tuple[str, ...] = ()
    permissions: Level = Level.EDIT
    text: str = ""
    options: tuple[str, ...] = ()
    env: Mapping[str, str] = {}
    sandbox: bool | None = None
    network: str | None = None
    timeout_s: float | None = None
    no_progress_s: float | None = None


class WorkflowAgents(NamedTuple):
    """The agents by name, the one for calls that name none, and those by how a model's name begins.

    `no_progress_s`: after how long without a word an agent is ended. `keep_runs`: how many runs
    that have ended are kept.
    """

    agents: Mapping[str, AgentSettings] = {}
    default: str = ""
    of_model: Mapping[str, str] = {}
    no_progress_s: float = 30 * 60.0
    keep_runs: int = KEEP_RUNS


def workflow_agents(project: Project) -> WorkflowAgents:
    """Return the settings in force. Raises UsageError that names the file and the key."""
    found = WorkflowAgents()
    for path in (project.app.home.config_path, project.layout.config_yaml):
        found = _with(found, path, project.paths.root)
    return found


def _with(before: WorkflowAgents, path: Path, root: Path) -> WorkflowAgents:
    try:
        raw = read_bytes(path, limit=1 << 20)
    except FileNotFoundError:
        return before
    if is_default(raw) or b"workflows" not in raw:
        return before
    section = parse_settings(path, raw).get("workflows")
    if section is None:
        return before
    here = _Place(path, "workflows", section)
    agents = {
        name: _agent(here.below(f"agents.{name}", said), name, root)
        for name, said in here.mapping("agents").items()
    }
    progress = here.seconds("no_progress", before.no_progress_s) or before.no_progress_s
    return WorkflowAgents(
        agents={**before.agents, **agents},
        default=here.text("agent") or before.default,
        of_model={**before.of_model, **here.texts("models")},
        no_progress_s=progress,
        keep_runs=here.count("keep_runs", before.keep_runs),
    )


def _agent(here: "_Place", name: str, root: Path) -> AgentSettings:
    command = here.words("command")
    agent = here.text("agent") or (COMMAND if command else "")
    if not agent:
        raise here.wrong("agent", "the name of an agent (or `command`, a command line)", None)
    if agent in (ACP, COMMAND) and not command:
        raise here.wrong("command", f"the command line of the {agent} agent", None)
    if agent == SCRIPTED and not here.text("answers"):
        raise here.wrong("answers", "the path of a table of answers", None)
    here.refuse_others(_KEYS)
    return AgentSettings(
        name=name,
        agent=agent,
        command=command,
        prints=Prints(here.one_of("prints", Prints, Prints.TEXT)),
        answers=os.path.join(root, here.text("answers")) if here.text("answers") else "",
        model=here.text("model"),
        effort=here.text("effort"),
        tools=here.words("tools"),
        permissions=Level(here.one_of("permissions", Level, Level.EDIT)),
        text=here.text("text"),
        options=here.words("options"),
        env=here.texts("env"),
        sandbox=here.flag("sandbox"),
        network=here.one_of("network", ("on", "off", "loopback"), None),
        timeout_s=here.seconds("timeout", None),
        no_progress_s=here.seconds("no_progress", None),
    )


_KEYS = frozenset(
    """
    agent command prints answers model effort tools permissions text options env sandbox network
    timeout no_progress
    """.split()
)


class _Place:
    """A section of a file. Its methods raise UsageError with the place of a mistake."""

    def __init__(self, path: Path, name: str, values: object) -> None:
        self._path, self._name = path, name
        if not isinstance(values, dict):
            raise self.wrong("", "a section", values)
        self._values: Mapping[str, Any] = values

    def below(self, name: str, values: object) -> "_Place":
        return _Place(self._path, f"{self._name}.{name}", values)

    def mapping(self, key: str) -> Mapping[str, Any]:
        value = self._values.get(key)
        if value is not None and not isinstance(value, dict):
            raise self.wrong(key, "names, each with what it stands for", value)
        return {str(name): said for name, said in (value or {}).items()}

    def texts(self, key: str) -> Mapping[str, str]:
        found = self.mapping(key)
        if not all(isinstance(each, str) for each in found.values()):
            raise self.wrong(key, "names, each with a text", found)
        return found

    def text(self, key: str) -> str:
        value = self._values.get(key)
        if value is not None and not isinstance(value, str):
            raise self.wrong(key, "a text", value)
        return value or ""

    def words(self, key: str) -> tuple[str, ...]:
        value = self._values.get(key)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise self.wrong(key, "a list of words", value)
        return tuple(value)

    def count(self, key: str, default: int) -> int:
        value = self._values.get(key)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise self.wrong(key, "a number, 0 or more", value)
        return value

    def flag(self, key: str) -> bool | None:
        value = self._values.get(key)
        if value is not None and not isinstance(value, bool):
            raise self.wrong(key, "on or off", value)
        return value

    def one_of(self, key: str, known: Any, default: str | None) -> Any:
        value = self._values.get(key)
        if isinstance(value, bool):  # YAML takes `on` and `off` for them
            value = "on" if value else "off"
        if value is None:
            return default
        if value not in list(known):
            raise self.wrong(key, f"one of {', '.join(known)}", value)
        return value

    def seconds(self, key: str, default: float | None) -> float | None:
        value = self._values.get(key)
        if value is None:
            return default
        if value == "never":
            return NEVER
        found = None if isinstance(value, bool) else seconds_in(str(value))
        if found is None:
            raise self.wrong(key, "a time such as 20m, or never", value)
        return found

    def refuse_others(self, known: frozenset[str]) -> None:
        for key in self._values:
            if key not in known:
                raise UsageError(
                    f"{self._name}.{key} in {str(self._path)!r} is not known",
                    hint=f"known are {', '.join(sorted(known))}",
                )

    def wrong(self, key: str, wanted: str, found: object) -> UsageError:
        place = f"{self._name}.{key}" if key else self._name
        is_there = "is missing" if found is None else f"is {found!r}"
        return UsageError(f"{place} in {str(self._path)!r} should be {wanted}, and {is_there}")

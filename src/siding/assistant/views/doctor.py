"""Whether the built-in agent can work here: what it needs, what it found, what is missing."""

import os
import re
import shutil
import socket
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path

from siding.agents.own.hooks import VARIABLE as TOLD
from siding.agents.own.providers import PROVIDERS
from siding.assistant.loop.effort import VARIABLE as EFFORT
from siding.assistant.loop.settings import SettingsLayer, combined_layers
from siding.assistant.models.names import Named, access, named
from siding.assistant.models.scripted import PROVIDER as SCRIPTED
from siding.assistant.settings import asked_of_agent, layers_here, repository_settings
from siding.assistant.starting import MODEL_VARIABLE, command_of, model_in_force
from siding.assistant.tools.place import Place
from siding.assistant.tools.search.ripgrep import VARIABLE as RIPGREP
from siding.assistant.tools.search.ripgrep import choose
from siding.ground.errors import SidingError
from siding.ground.installation import adding
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.broker.place import SOCKET_VARIABLE
from siding.ground.process.command import TOKEN_VARIABLE
from siding.record.place.project import Project, find_project
from siding.record.place.wiring import App
from siding.sandbox.engines.probe import find_engine
from siding.sandbox.request import SandboxRequest
from siding.sandbox.settings import SandboxMode, asked_of

# -- The variables of the environment that the built-in agent reads, and whether they are set ------


_USER_INFO = re.compile(r"(?<=//)[^/@\s]*@")
_QUERY = re.compile(r"\?.*", re.DOTALL)
_CACHING = "DISABLE_PROMPT_CACHING"
_PLAIN = (
    (MODEL_VARIABLE, "the model, where none is named"),
    (EFFORT, "the effort, before the settings"),
    (_CACHING, "1: providers are not asked to keep prompts"),
    *(
        (f"{_CACHING}_{each}", f"the same for {each.title()}")
        for each in ("HAIKU", "SONNET", "OPUS")
    ),
    (RIPGREP, "0: the system's ripgrep comes first"),
    ("OPENAI_API_VERSION", "azure: the version of older resources"),
    ("ANTHROPIC_VERTEX_PROJECT_ID", "vertex: the project"),
    ("GOOGLE_CLOUD_PROJECT", "vertex: the project"),
    ("CLOUD_ML_REGION", "vertex: the region"),
    ("GOOGLE_CLOUD_LOCATION", "vertex: the region"),
    ("SSL_CERT_FILE", "certificates for what WebFetch fetches"),
    ("SIDING_HOME", "where Siding keeps everything"),
    ("XDG_CONFIG_HOME", "where your AGENTS.md is"),
    ("SIDING_WORKSPACE", "within a run: its workspace"),
    (SOCKET_VARIABLE, "within a run: its broker"),
)
_SECRET = (
    ("ANTHROPIC_VERTEX_ACCESS_TOKEN", "vertex: a token for a gateway"),
    (TOKEN_VARIABLE, "within a run: the step that it belongs to"),
    (TOLD, "within a run: what the agent was told"),
)


class AgentVariable(NamedTuple):
    """A variable. `value` is "" for one that is not set, and for a secret."""

    name: str
    about: str
    is_set: bool
    is_secret: bool
    value: str


def variables(env: Mapping[str, str]) -> list[AgentVariable]:
    """Return all variables that the agent reads."""
    return [_variable(*each, env) for each in _known()]


def shown_address(text: str) -> str:
    """Return an address without a password and without a query, which may hold a key."""
    return _QUERY.sub("?…", _USER_INFO.sub("…@", text))


def _known() -> Iterator[tuple[str, str, bool]]:
    yield from ((name, about, False) for name, about in _PLAIN[:2])
    keys: dict[str, list[str]] = {}
    urls: dict[str, list[str]] = {}
    for row in PROVIDERS.values():
        for name in row.variables:
            keys.setdefault(name, []).append(row.prefix)
        urls.setdefault(row.url, []).append(row.prefix)
    yield from ((name, f"{', '.join(whose)}: the key", True) for name, whose in keys.items())
    yield from ((name, f"{', '.join(whose)}: the address", False) for name, whose in urls.items())
    yield from ((name, about, False) for name, about in _PLAIN[2:])
    yield from ((name, about, True) for name, about in _SECRET)


def _variable(name: str, about: str, is_secret: bool, env: Mapping[str, str]) -> AgentVariable:
    value = env.get(name, "")
    shown = "" if is_secret else shown_address(value) if "//" in value else value
    return AgentVariable(name, about, bool(value), is_secret, shown)


# -- Whether the built-in agent can work here: what it needs, what it found, what is missing -------


# What has to be there for a provider, by the module that makes its models.
_LIBRARIES = {
    "anthropic": ("httpx2", "pydantic_ai", "anthropic"),
    "openai": ("httpx2", "pydantic_ai", "openai"),
    "google": ("httpx2", "pydantic_ai", "google.genai"),
    "bedrock": ("httpx2", "pydantic_ai", "anthropic", "botocore"),
    "vertex": ("httpx2", "pydantic_ai", "anthropic", "google.genai", "google.auth"),
}
_BROKER_WAIT_S = 5.0


class Health(StrEnum):
    """How something stands."""

    OK = "ok"
    NOTE = "note"  # it works, not as it could
    BROKEN = "broken"  # the agent does not work until it is mended


class AgentFinding(NamedTuple):
    """One thing that was looked at. `hint`: what to do, "" for nothing."""

    what: str
    health: Health
    text: str
    hint: str = ""


def agent_findings(app: App, managed: Path | None = None) -> Iterator[AgentFinding]:
    """Yield what was found. Nothing is changed, and no model is asked."""
    try:
        project = find_project(app)
    except SidingError as error:
        project = None
        yield AgentFinding("repository", Health.BROKEN, error.message, error.hint or "")
    layers, wrong = _layers(app, project, managed)
    yield from _model(app, layers)
    yield from _settings(project, layers, wrong)
    yield _search(app)
    yield _sandbox(app, project)
    yield _broker(app)
    yield _program(app)
    yield _home(app)


def _layers(
    app: App, project: Project | None, managed: Path | None
) -> tuple[list[SettingsLayer], SidingError | OSError | None]:
    try:
        if managed is None:
            return layers_here(app, project), None
        return layers_here(app, project, managed=managed), None
    except (SidingError, OSError) as error:
        return [], error


def _model(app: App, layers: list[SettingsLayer]) -> Iterator[AgentFinding]:
    try:
        name, by = model_in_force(app, combined_layers(layers))
    except SidingError as error:
        yield _broken("model", error)
        return
    try:
        found = named(name, frozenset({SCRIPTED, *PROVIDERS}))
        yield AgentFinding("model", Health.OK, f"{name}, by {by}")
        yield from _scripted(found) if found.provider == SCRIPTED else _provider(app, found)
    except SidingError as error:
        yield _broken("model", error)


def _scripted(found: Named) -> Iterator[AgentFinding]:
    path = Path(found.name).expanduser()
    if not path.is_file():
        text = f"there is no script {str(path)!r}"
        yield AgentFinding(
            "script", Health.BROKEN, text, "its format: docs/reference/agent-models.md"
        )


def _provider(app: App, found: Named) -> Iterator[AgentFinding]:
    row = PROVIDERS[found.provider]
    missing = [name for name in _LIBRARIES[row.maker[0]] if not _is_there(name)]
    if missing:
        text = f"{', '.join(missing)}: not installed"
        yield AgentFinding("libraries", Health.BROKEN, text, adding(row.extra))
    else:
        yield AgentFinding("libraries", Health.OK, "installed")
    reached = access(row, app.env)
    used = next((name for name in row.variables if app.env.get(name)), "")
    key = f"{used} is set" if used else "none is needed"
    if not row.variables:
        key = "the credentials of this machine, which are not tried here"
    yield AgentFinding("key", Health.OK, key)
    if reached.url:
        yield AgentFinding("address", Health.OK, shown_address(reached.url))


def _is_there(library: str) -> bool:
    try:
        return find_spec(library) is not None
    except ModuleNotFoundError:  # the package that it is in
        return False


def _settings(
    project: Project | None, layers: list[SettingsLayer], wrong: SidingError | OSError | None
) -> Iterator[AgentFinding]:
    if isinstance(wrong, SidingError):
        yield _broken("settings", wrong)
        return
    if wrong is not None:
        yield AgentFinding("settings", Health.BROKEN, f"they cannot be read: {wrong}")
        return
    for layer in layers:
        counts = "" if layer.is_trusted else ", of which only what forbids counts"
        yield AgentFinding("settings", Health.OK, f"{layer.level}: {layer.source}{counts}")
    if not layers:
        yield AgentFinding("settings", Health.OK, "there are none")
    asked = None if project is None else asked_of_agent(project, repository_settings(project))
    if asked is not None and not asked.trusted:
        for line in asked.lines:
            hint = "`siding trust` shows it and lets it count"
            yield AgentFinding("withheld", Health.NOTE, line, hint)


def _search(app: App) -> AgentFinding:
    """Tell what searches here, as the tools choose it."""
    workspace = Path(os.path.realpath(app.env.get("SIDING_WORKSPACE") or app.cwd))
    home = Path(app.env.get("HOME") or os.path.expanduser("~"))
    found = choose(Place(workspace, Path(tempfile.gettempdir()), home, app.env))
    if not found.program:
        return AgentFinding("search", Health.BROKEN, found.text)
    return AgentFinding("search", Health.NOTE if found.note else Health.OK, found.text)


def _sandbox(app: App, project: Project | None) -> AgentFinding:
    engine = find_engine(app.env)
    mode = SandboxMode.OFF
    if project is not None:
        try:
            asked, _notes = asked_of(project, SandboxRequest())
        except SidingError as error:
            return _broken("sandbox", error)
        mode = asked.mode or SandboxMode.OFF
    if engine.engine is None:
        health = Health.BROKEN if mode is SandboxMode.REQUIRE else Health.NOTE
        hint = "install bubblewrap; `siding doctor --sandbox` shows what was tried"
        return AgentFinding("sandbox", health, f"none works here: {engine.reason}", hint)
    wanted = "runs have one" if mode is not SandboxMode.OFF else "runs have one with --sandbox"
    return AgentFinding("sandbox", Health.OK, f"{engine.engine.value}; {wanted}")


def _broker(app: App) -> AgentFinding:
    path = app.env.get(SOCKET_VARIABLE)
    if not path:
        return AgentFinding("broker", Health.OK, "there is none outside of a run")
    try:
        with closing(socket.socket(socket.AF_UNIX)) as client:
            client.settimeout(_BROKER_WAIT_S)
            client.connect(path)
    except OSError as error:
        hint = "the run may have ended: begin another one"
        return AgentFinding("broker", Health.BROKEN, f"it does not answer: {error}", hint)
    return AgentFinding("broker", Health.OK, "it answers")


def _program(app: App) -> AgentFinding:
    try:
        (program,) = command_of(app, ())
    except SidingError as error:
        return _broken("program", error)
    return AgentFinding("program", Health.OK, shutil.which(program) or program)


def _home(app: App) -> AgentFinding:
    root = app.home.root
    there = next(each for each in (root, *root.parents) if each.exists())
    if os.access(there, os.W_OK):
        return AgentFinding("home", Health.OK, str(root))
    hint = "conversations and steps are kept there; SIDING_HOME names another directory"
    return AgentFinding("home", Health.BROKEN, f"{str(root)!r} cannot be written", hint)


def _broken(what: str, error: SidingError) -> AgentFinding:
    return AgentFinding(what, Health.BROKEN, error.message, error.hint or "")

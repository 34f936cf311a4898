"""Read the settings of a project from its ``config.yaml``, and those for all from the home's.

Parsing YAML takes longer than most commands, so an unchanged default file is recognised by its
bytes and not parsed. Other tools of this file format use some of the sections as well.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from siding.ground.errors import UsageError
from siding.ground.files.regular import read_bytes
from siding.ground.hashing import sha256_hex
from siding.ground.namedtuples import NamedTuple
from siding.record.place.quantities import bytes_in, seconds_in

if TYPE_CHECKING:
    from siding.record.phases.plan import PhasePlan

CONFIG_VERSION = 1
DEFAULT_POLICY_PATH = ".siding/policy.yaml"
OWN_POLICY = "policy.yaml"  # the person's policy for all projects, in the home
ISOLATION_FILES = ("auto", "always", "never")
LEAVE = ("keep", "end")
VARIABLES = ("map", "leave", "drop")
JUDGE = ("off", "on", "require")
STEPS = ("turn", "call")

DEFAULT_TEXT = """\
# Settings of one Siding project. What they are when nothing is said is in the comments; what
# `config.yaml` of Siding's home says for all projects counts where this file says nothing.
version: 1
# git:
#   default_base: ""        # start tasks from this branch; empty: where you stand
#   branch_prefix: siding/
# policy:
#   enabled: true           # true or false; left out: once there is a policy file
#   path: .siding/policy.yaml
#   overrides: true         # whether `siding run --allow RULE` may answer what is asked
# isolation:
#   files: auto             # files of your checkout looked at after a run: auto, always, never
# hooks:                    # shell commands, run in the workspace
#   post_create: []         # after a workspace was made
#   pre_run: []             # before each run; one that fails stops the run
#   post_run: []            # after each run
#   notify: []              # when something starts to wait for you; see `siding inbox`
# snapshot:
#   max_file_size: 100MiB   # larger files are left out of snapshots, and reported
#   ignored: []             # globs of ignored files to record all the same, such as .env
# sandbox:
#   mode: on                # off, on (else a warning), require (else nothing runs)
#   network: on             # on, off, loopback
# limits:                   # of each run
#   time: 2h
#   memory: 8GiB            # also output, processes, disk
# redaction:
#   enabled: true           # secrets in output, commands and records become [redacted:kind]
#   extra: {}               # more that is secret, by kind: a regular expression for each
#   allow: []               # values to leave alone; kind:NAME for a whole kind
# output:
#   color: true
#   verbose: false
"""
# The SHA-256 of the text that new projects were given before.
_EARLIER = frozenset({"ede52b4c0d6f125ef2634999fd264cc70774fb5f90736567d682a1c59690be64"})
# The sections that `Settings` has; of the home's file the others are read by who needs them.
_SECTIONS = (
    "git",
    "hooks",
    "snapshot",
    "policy",
    "isolation",
    "turns",
    "runs",
    "agents",
    "gc",
    "forks",
    "output",
)


class RedactionSettings(NamedTuple):
    """What one file says about redaction; `enabled` is None where it says nothing."""

    enabled: bool | None = None
    extra: Mapping[str, str] = {}
    allow: tuple[str, ...] = ()

    def over(self, wider: "RedactionSettings") -> "RedactionSettings":
        """Return the settings in force if `wider` are those for all projects."""
        return RedactionSettings(
            enabled=wider.enabled if self.enabled is None else self.enabled,
            extra={**wider.extra, **self.extra},
            allow=(*wider.allow, *self.allow),
        )


class Settings(NamedTuple):
    """The settings in force; a default for each one that is not set."""

    default_base: str = ""
    branch_prefix: str = "siding/"
    post_create: tuple[str, ...] = ()
    pre_run: tuple[str, ...] = ()
    post_run: tuple[str, ...] = ()
    notify: tuple[str, ...] = ()
    max_file_size: int = 100 * 1024 * 1024  # bytes
    ignored: tuple[str, ...] = ()
    policy_enabled: bool | None = None  # None: once there is a policy file
    policy_path: str = DEFAULT_POLICY_PATH  # relative to the main checkout
    policy_overrides: bool = True
    isolation_files: str = "auto"  # auto, always or never
    redaction: RedactionSettings = RedactionSettings()
    turns_every_s: float | None = None  # record a run's workspace so often; None: never
    turns_quiet_s: float | None = None  # and after so long without output; None: never
    leave: str = "keep"  # keep or end: what a run's command leaves running when it ends
    variables: str = "map"  # one of VARIABLES: those that lead into the checkout, in a run
    agents_report: bool = True  # agents that can are told to report their turns
    agents_text: bool = True  # and what they may ask of Siding
    agents_tools: bool = True  # and get tools to ask it with, if `mcp` is installed
    agents_steps: str = "turn"  # one of STEPS: what of them is a step
    agents_judge: str = "on"  # one of JUDGE: whether their commands are judged before they run
    agents_ask: str = "auto"  # how long they wait for a person: auto, wait, deny or a time
    agents_meter: bool = False  # their requests to models are measured on the wire
    gc_background: bool = False  # whether hosts of long runs start `siding gc`
    gc_older_s: float | None = None  # and with which age; None: without --older
    forks_pool: int = 4  # how many worktrees may wait for the next forks
    forks_warm: tuple[str, ...] = ()  # ignored directories that come along into a fork
    color: bool = True
    verbose: bool = False


def is_default(raw: bytes) -> bool:
    """Tell whether a settings file is as a new project was given it, and says nothing."""
    return raw == DEFAULT_TEXT.encode() or sha256_hex(raw) in _EARLIER


def read_settings(path: Path, everywhere: Path | None = None) -> Settings:
    """Return the settings in `path`, and those in `everywhere` where it says nothing.

    A file that does not exist says nothing. `redaction` is that of `path` alone.

    Raises UsageError with the file and the place if one does not parse or a value has the wrong
    type, because a setting that is silently ignored is worse than none.
    """
    layers = [Layer(_document(path), path)]
    if everywhere is not None:
        layers.append(Layer(_document(everywhere, _SECTIONS), everywhere))
    return _settings_from(layers) if any(each.document for each in layers) else Settings()


def _document(path: Path, sections: Sequence[str] = ()) -> Mapping[str, Any]:
    """Return what a settings file says; nothing if it has none of these sections."""
    try:
        raw = read_bytes(path, limit=1 << 20)
    except FileNotFoundError:
        return {}
    says_nothing = sections and not any(each.encode() in raw for each in sections)
    return {} if says_nothing or is_default(raw) else parse_settings(path, raw)


def redaction_in(path: Path) -> RedactionSettings:
    """Return what a settings file says about redaction."""
    try:
        raw = read_bytes(path, limit=1 << 20)
    except FileNotFoundError:
        return RedactionSettings()
    if b"redaction" not in raw or is_default(raw):
        return RedactionSettings()
    return _redaction_from([Layer(parse_settings(path, raw), path)])


def hooks_in(path: Path) -> dict[str, tuple[str, ...]]:
    """Return the hooks and gate commands in a repository's ``.siding/config.yaml``, by moment."""
    try:
        raw = read_bytes(path, limit=1 << 20)
    except FileNotFoundError:
        return {}
    document = parse_settings(path, raw)
    section = Section([Layer(document, path)], "hooks")
    moments = ("post_create", "pre_run", "post_run", "notify")
    hooks = {name: section.commands(name) for name in moments}
    plan = _plan(document, path)
    if plan is not None:  # commands of gates need the person's trust in the same way as hooks
        hooks |= {f"gate {phase}": commands for phase, commands in plan.commands().items()}
    return {name: commands for name, commands in hooks.items() if commands}


def phases_in(path: Path) -> "PhasePlan | None":
    """Return the `phases` of a settings file; None if it has none."""
    try:
        raw = read_bytes(path, limit=1 << 20)
    except FileNotFoundError:
        return None
    return None if is_default(raw) else _plan(parse_settings(path, raw), path)


def _plan(document: Mapping[str, Any], path: Path) -> "PhasePlan | None":
    if document.get("phases") is None:
        return None
    from siding.record.phases.plan import BadPlan, plan_from

    try:
        return plan_from(document["phases"])
    except BadPlan as error:
        place = f"phases.{error.place}" if error.place else "phases"
        raise UsageError(f"{place} in {str(path)!r}: {error}") from None


def parse_settings(path: Path, raw: bytes) -> Mapping[str, Any]:
    """Return the parsed settings file `raw`; raise UsageError if it does not parse."""
    import yaml

    try:
        document = yaml.load(raw, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError as error:
        raise UsageError(
            f"{str(path)!r} is not valid YAML: {' '.join(str(error).split())}",
            hint="correct the file, or delete it to get the defaults back",
        ) from None
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise UsageError(f"{str(path)!r} should hold settings, and holds {type(document).__name__}")
    version = document.get("version", CONFIG_VERSION)
    if not isinstance(version, int) or version > CONFIG_VERSION:
        raise UsageError(
            f"{str(path)!r} has version {version!r}; this Siding knows {CONFIG_VERSION}",
            hint="use the version of Siding that wrote it, or a newer one",
        )
    return document


def _redaction_from(layers: "Sequence[Layer]") -> RedactionSettings:
    section = Section(layers, "redaction")
    return RedactionSettings(
        enabled=section.flag_or_none("enabled"),
        extra=section.texts("extra"),
        allow=section.commands("allow"),
    )


def _settings_from(layers: "Sequence[Layer]") -> Settings:
    default = Settings()
    git = Section(layers, "git")
    hooks = Section(layers, "hooks")
    snapshot = Section(layers, "snapshot")
    policy = Section(layers, "policy")
    isolation = Section(layers, "isolation")
    turns = Section(layers, "turns")
    runs = Section(layers, "runs")
    agents = Section(layers, "agents")
    gc_background, gc_older_s = Section(layers, "gc").flag_or_age("background")
    forks = Section(layers, "forks")
    output = Section(layers, "output")
    return Settings(
        default_base=git.text("default_base", default.default_base),
        branch_prefix=git.text("branch_prefix", default.branch_prefix),
        post_create=hooks.commands("post_create"),
        pre_run=hooks.commands("pre_run"),
        post_run=hooks.commands("post_run"),
        notify=hooks.commands("notify"),
        max_file_size=snapshot.size("max_file_size", default.max_file_size),
        ignored=snapshot.commands("ignored"),
        policy_enabled=policy.flag_or_none("enabled"),
        policy_path=policy.text("path", default.policy_path) or default.policy_path,
        policy_overrides=policy.flag("overrides", default.policy_overrides),
        isolation_files=isolation.one_of("files", ISOLATION_FILES, default.isolation_files),
        redaction=_redaction_from(layers[:1]),  # the other file's are added to it
        turns_every_s=turns.seconds("every"),
        turns_quiet_s=turns.seconds("quiet"),
        leave=runs.one_of("leave", LEAVE, default.leave),
        variables=runs.one_of("variables", VARIABLES, default.variables),
        agents_report=agents.flag("report", default.agents_report),
        agents_text=agents.flag("text", default.agents_text),
        agents_tools=agents.flag("tools", default.agents_tools),
        agents_steps=agents.one_of("steps", STEPS, default.agents_steps),
        agents_judge=agents.one_of("judge", JUDGE, default.agents_judge),
        agents_ask=agents.patience("ask", default.agents_ask),
        agents_meter=agents.flag("meter", default.agents_meter),
        gc_background=gc_background,
        gc_older_s=gc_older_s,
        forks_pool=forks.count("pool", default.forks_pool),
        forks_warm=forks.commands("warm"),
        color=output.flag("color", default.color),
        verbose=output.flag("verbose", default.verbose),
    )


class Layer(NamedTuple):
    """What one settings file says."""

    document: Mapping[str, Any]
    path: Path


class Section:
    """One section of the files, of which an earlier one's value goes before a later one's.

    The methods raise UsageError with the place of a mistake.
    """

    def __init__(self, layers: Sequence[Layer], name: str) -> None:
        self._name = name
        self._values: dict[str, Any] = {}
        self._paths = {"": layers[0].path}
        for document, path in reversed(layers):
            values = document.get(name)
            if values is not None and not isinstance(values, dict):
                self._paths[""] = path
                raise self._wrong("", "a section", values)
            said = {key: each for key, each in (values or {}).items() if each is not None}
            self._values |= said
            self._paths |= dict.fromkeys(said, path)

    def text(self, key: str, default: str) -> str:
        value = self._values.get(key)
        if value is None:
            return default
        if not isinstance(value, str):
            raise self._wrong(key, "text", value)
        return value

    def one_of(self, key: str, known: tuple[str, ...], default: str) -> str:
        value = self._values.get(key)
        if value is None:
            return default
        if isinstance(value, bool):  # YAML takes `on` and `off` for them
            value = "on" if value else "off"
        if value not in known:
            raise self._wrong(key, f"one of {', '.join(known)}", value)
        return str(value)

    def flag_or_none(self, key: str) -> bool | None:
        return None if self._values.get(key) is None else self.flag(key, False)

    def flag(self, key: str, default: bool) -> bool:
        value = self._values.get(key, default)
        if not isinstance(value, bool):
            raise self._wrong(key, "true or false", value)
        return value

    def commands(self, key: str) -> tuple[str, ...]:
        value = self._values.get(key)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise self._wrong(key, "a list of texts", value)
        return tuple(value)

    def texts(self, key: str) -> Mapping[str, str]:
        value = self._values.get(key)
        if value is None:
            return {}
        if not isinstance(value, dict) or not all(
            isinstance(each, str) for pair in value.items() for each in pair
        ):
            raise self._wrong(key, "names, each with a text", value)
        return value

    def size(self, key: str, default: int) -> int:
        value = self._values.get(key)
        if value is None:
            return default
        size = bytes_in(str(value)) if not isinstance(value, bool) else None
        if size is None:
            raise self._wrong(key, "a size such as 100MiB", value)
        return size

    def count(self, key: str, default: int) -> int:
        value = self._values.get(key)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise self._wrong(key, "a number such as 4", value)
        return value

    def seconds(self, key: str) -> float | None:
        value = self._values.get(key)
        if value in (None, "", "never"):
            return None
        found = None if isinstance(value, bool) else seconds_in(str(value))
        if found is None:
            raise self._wrong(key, "a time such as 20s or 10m, or never", value)
        return found

    def patience(self, key: str, default: str) -> str:
        """Return a word about how long a question waits: auto, wait, deny, or a time."""
        value = self._values.get(key)
        if value is None or value in ("auto", "wait", "deny"):
            return default if value is None else str(value)
        if isinstance(value, bool) or seconds_in(str(value)) is None:
            raise self._wrong(key, "auto, wait, deny, or a time such as 90s", value)
        return str(value)

    def flag_or_age(self, key: str) -> tuple[bool, float | None]:
        """Return whether it is on, and the age if one is given."""
        value = self._values.get(key)
        if value is None or isinstance(value, bool):
            return bool(value), None
        age = seconds_in(str(value))
        if age is None:
            raise self._wrong(key, "on, off or an age such as 90d", value)
        return True, age

    def _wrong(self, key: str, wanted: str, found: object) -> UsageError:
        place = f"{self._name}.{key}" if key else self._name
        path = self._paths.get(key, self._paths[""])
        return UsageError(f"{place} in {str(path)!r} should be {wanted}, and is {found!r}")

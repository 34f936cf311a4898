"""The sections of settings files, and the values in them, each checked.

Loaded where a file says something; most projects have the one they were given.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from siding.ground.errors import UsageError
from siding.ground.namedtuples import NamedTuple
from siding.record.place.quantities import bytes_in, seconds_in
from siding.record.place.settings import (
    ISOLATION_FILES,
    JUDGE,
    LEAVE,
    STEPS,
    VARIABLES,
    RedactionSettings,
    Settings,
    parse_settings,
)

if TYPE_CHECKING:
    from siding.record.phases.plan import PhasePlan

STATUS_LINE = "status_line"
# Sections that their features read.
_ELSEWHERE = (
    "agent",
    "call",
    "limits",
    "phases",
    "redaction",
    "sandbox",
    STATUS_LINE,
    "terminal",
    "traps",
    "usage",
    "workflows",
)


def settings_in(files: Mapping[Path, bytes | None]) -> Settings:
    """Return what these files say, the one that counts first before the others."""
    layers = [
        Layer({} if raw is None else parse_settings(path, raw), path) for path, raw in files.items()
    ]
    return _settings_from(layers) if any(each.document for each in layers) else Settings()


def redaction_of(path: Path, raw: bytes) -> RedactionSettings:
    """Return what a settings file says about redaction."""
    return _redaction_from([Layer(parse_settings(path, raw), path)])


def hooks_of(path: Path, raw: bytes) -> dict[str, tuple[str, ...]]:
    """Return the hooks and gate commands in a settings file, by moment."""
    document = parse_settings(path, raw)
    section = Section([Layer(document, path)], "hooks")
    moments = ("post_create", "pre_run", "post_run", "notify")
    hooks = {name: section.commands(name) for name in moments}
    line = Section([Layer(document, path)], STATUS_LINE).text("command", "")
    if line:  # it is run whenever its project is looked at
        hooks[STATUS_LINE] = (line,)
    plan = _plan(document, path)
    if plan is not None:  # commands of gates need the person's trust in the same way as hooks
        hooks |= {f"gate {phase}": commands for phase, commands in plan.commands().items()}
    return {name: commands for name, commands in hooks.items() if commands}


def phases_of(path: Path, raw: bytes) -> "PhasePlan | None":
    """Return the `phases` of a settings file; None if it has none."""
    return _plan(parse_settings(path, raw), path)


def _plan(document: Mapping[str, Any], path: Path) -> "PhasePlan | None":
    if document.get("phases") is None:
        return None
    from siding.record.phases.plan import BadPlan, plan_from

    try:
        return plan_from(document["phases"])
    except BadPlan as error:
        place = f"phases.{error.place}" if error.place else "phases"
        raise UsageError(f"{place} in {str(path)!r}: {error}") from None


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
    gc = Section(layers, "gc")
    gc_background, gc_older_s = gc.flag_or_age("background")
    forks = Section(layers, "forks")
    output = Section(layers, "output")
    found = Settings(
        default_base=git.text("default_base", default.default_base),
        branch_prefix=git.text("branch_prefix", default.branch_prefix),
        trailers=git.flag("trailers", default.trailers),
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
        agents_effect=agents.flag("effect", default.agents_effect),
        agents_meter=agents.flag("meter", default.agents_meter),
        gc_background=gc_background,
        gc_older_s=gc_older_s,
        forks_pool=forks.count("pool", default.forks_pool),
        forks_warm=forks.commands("warm"),
        color=output.flag("color", default.color),
        verbose=output.flag("verbose", default.verbose),
    )
    sections = [git, hooks, snapshot, policy, isolation, turns, runs, agents, gc, forks, output]
    return found._replace(unknown=_unknown_in(layers, sections))


def _unknown_in(layers: "Sequence[Layer]", sections: "Sequence[Section]") -> Mapping[str, str]:
    """Return what Siding has no meaning for: a slip, or what another tool knows.

    It is the names by the file. Sections that are read by who needs them are not looked into.
    """
    known = {"version", *(each.name for each in sections), *_ELSEWHERE}
    found = [(path, str(key)) for document, path in layers for key in document if key not in known]
    found += [each for section in sections for each in section.unknown()]
    files = dict.fromkeys(str(path) for path, _ in found)
    return {file: ", ".join(name for path, name in found if str(path) == file) for file in files}


class Layer(NamedTuple):
    """What one settings file says."""

    document: Mapping[str, Any]
    path: Path


class Section:
    """One section of the files, of which an earlier one's value goes before a later one's.

    The methods raise UsageError with the place of a mistake.
    """

    def __init__(self, layers: Sequence[Layer], name: str) -> None:
        self.name = name
        self._values: dict[str, Any] = {}
        self._asked: set[str] = set()
        self._paths = {"": layers[0].path}
        for document, path in reversed(layers):
            values = document.get(name)
            if values is not None and not isinstance(values, dict):
                self._paths[""] = path
                raise self._wrong("", "a section", values)
            said = {key: each for key, each in (values or {}).items() if each is not None}
            self._values |= said
            self._paths |= dict.fromkeys(said, path)

    def unknown(self) -> list[tuple[Path, str]]:
        """Return what the files say in this section and nobody has asked for: file and name."""
        return [(self._paths[k], f"{self.name}.{k}") for k in self._values if k not in self._asked]

    def _said(self, key: str, default: Any = None) -> Any:
        self._asked.add(key)
        return self._values.get(key, default)

    def text(self, key: str, default: str) -> str:
        value = self._said(key)
        if value is None:
            return default
        if not isinstance(value, str):
            raise self._wrong(key, "text", value)
        return value

    def one_of(self, key: str, known: tuple[str, ...], default: str) -> str:
        value = self._said(key)
        if value is None:
            return default
        if isinstance(value, bool):  # YAML takes `on` and `off` for them
            value = "on" if value else "off"
        if value not in known:
            raise self._wrong(key, f"one of {', '.join(known)}", value)
        return str(value)

    def flag_or_none(self, key: str) -> bool | None:
        return None if self._said(key) is None else self.flag(key, False)

    def flag(self, key: str, default: bool) -> bool:
        value = self._said(key, default)
        if not isinstance(value, bool):
            raise self._wrong(key, "true or false", value)
        return value

    def commands(self, key: str) -> tuple[str, ...]:
        value = self._said(key)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise self._wrong(key, "a list of texts", value)
        return tuple(value)

    def texts(self, key: str) -> Mapping[str, str]:
        value = self._said(key)
        if value is None:
            return {}
        if not isinstance(value, dict) or not all(
            isinstance(each, str) for pair in value.items() for each in pair
        ):
            raise self._wrong(key, "names, each with a text", value)
        return value

    def size(self, key: str, default: int) -> int:
        value = self._said(key)
        if value is None:
            return default
        size = bytes_in(str(value)) if not isinstance(value, bool) else None
        if size is None:
            raise self._wrong(key, "a size such as 100MiB", value)
        return size

    def count(self, key: str, default: int) -> int:
        value = self._said(key)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise self._wrong(key, "a number such as 4", value)
        return value

    def seconds(self, key: str) -> float | None:
        value = self._said(key)
        if value in (None, "", "never"):
            return None
        found = None if isinstance(value, bool) else seconds_in(str(value))
        if found is None:
            raise self._wrong(key, "a time such as 20s or 10m, or never", value)
        return found

    def patience(self, key: str, default: str) -> str:
        """Return a word about how long a question waits: auto, wait, deny, or a time."""
        value = self._said(key)
        if value is None or value in ("auto", "wait", "deny"):
            return default if value is None else str(value)
        if isinstance(value, bool) or seconds_in(str(value)) is None:
            raise self._wrong(key, "auto, wait, deny, or a time such as 90s", value)
        return str(value)

    def flag_or_age(self, key: str) -> tuple[bool, float | None]:
        """Return whether it is on, and the age if one is given."""
        value = self._said(key)
        if value is None or isinstance(value, bool):
            return bool(value), None
        age = seconds_in(str(value))
        if age is None:
            raise self._wrong(key, "on, off or an age such as 90d", value)
        return True, age

    def _wrong(self, key: str, wanted: str, found: object) -> UsageError:
        place = f"{self.name}.{key}" if key else self.name
        path = self._paths.get(key, self._paths[""])
        return UsageError(f"{place} in {str(path)!r} should be {wanted}, and is {found!r}")

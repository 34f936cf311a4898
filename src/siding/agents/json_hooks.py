"""Hooks in settings of JSON, as Claude Code and Gemini CLI have them: ``hooks.EVENT[].hooks[]``."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from siding.agents.hooks import Moment
from siding.agents.settings import Hook, NotMergeable, is_ours
from siding.ground.namedtuples import NamedTuple

Moments = Mapping[str, tuple[Moment, int]]  # with how many seconds a hook may take
_INDENT = re.compile(r"^[ \t]+", re.MULTILINE)


_SAYS_WHAT = "description"  # of a hook: the agents pass over it
_PUT_IN = "put in with Siding's hooks: "


def hooks_of(moments: Moments) -> list[Hook]:
    """Return the hooks that tell of turns; whom an agent waits for matters in a run alone."""
    return [
        Hook(event, seconds)
        for event, (moment, seconds) in moments.items()
        if moment is not Moment.WAITS
    ]


class Setting(NamedTuple):
    """A setting that goes in and out with the hooks, where the person has not said anything of it.

    The first hook says what was put in, the setting or the section that it is in, so that a setting
    of the person's is never taken out.
    """

    section: str
    name: str
    value: Mapping[str, Any]


class JsonHooks:
    """The settings of an agent: ``settings.json`` in the directory that `place` returns.

    `place` is given the environment and the person's home.
    """

    def __init__(
        self,
        place: Callable[[Mapping[str, str], Path], Path],
        hooks: Sequence[Hook],
        *,
        unit: int = 1,
        setting: Setting | None = None,
    ) -> None:
        self._place = place
        self._hooks = hooks
        self._unit = unit  # how many of the agent's units of time a second has
        self._setting = setting

    def file(self, env: Mapping[str, str], home: Path) -> Path:
        return self._place(env, home) / "settings.json"

    def added(self, settings: str, command: str, file: Path) -> str:
        del file
        document = _parsed(settings)
        hooks = _object(document, "hooks")
        put_in = _put_in(document, self._setting) if self._setting else ""
        for hook in self._hooks:
            groups = hooks.setdefault(hook.event, [])
            if not isinstance(groups, list):
                raise NotMergeable(f"its hooks of {hook.event} are not a list")
            seconds = hook.seconds * self._unit
            entry: dict[str, Any] = {"type": "command", "command": command, "timeout": seconds}
            if put_in:
                entry[_SAYS_WHAT] = _PUT_IN + put_in
                put_in = ""
            groups.append({"hooks": [entry]})
        document["hooks"] = hooks
        return _written(document, settings)

    def removed(self, settings: str) -> str:
        if not self.commands(settings):
            return settings
        document = _parsed(settings)
        if self._setting:
            _take_out(document, self._setting)
        hooks = _object(document, "hooks")
        for event, groups in list(hooks.items()):
            kept = (
                [_without_ours(group) for group in groups] if isinstance(groups, list) else groups
            )
            if kept == groups:
                continue
            hooks[event] = [group for group in kept if group is not None]
            if not hooks[event]:
                del hooks[event]
        document["hooks"] = hooks
        if not hooks:
            del document["hooks"]
        return _written(document, settings)

    def parsed(self, settings: str) -> Mapping[str, Any]:
        return _parsed(settings)

    def commands(self, settings: str) -> set[str]:
        hooks = _object(_parsed(settings), "hooks")
        return {command for groups in hooks.values() for command in _ours_in(groups)}


def _parsed(settings: str) -> dict[str, Any]:
    if not settings.strip():
        return {}
    try:
        document = json.loads(settings)
    except ValueError as error:
        raise NotMergeable(f"it is not plain JSON: {error}") from None
    if not isinstance(document, dict):
        raise NotMergeable("it is not a JSON object")
    return document


def _object(document: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = document.get(name, {})
    if not isinstance(found, dict):
        raise NotMergeable(f"its {name!r} is not an object")
    return dict(found)


def _put_in(document: dict[str, Any], setting: Setting) -> str:
    """Add a setting that is not there; return what was added, "" for nothing."""
    if setting.section not in document:
        document[setting.section] = {setting.name: dict(setting.value)}
        return setting.section
    section = document[setting.section]
    if not isinstance(section, dict) or setting.name in section:
        return ""
    document[setting.section] = {**section, setting.name: dict(setting.value)}
    return f"{setting.section}.{setting.name}"


def _take_out(document: dict[str, Any], setting: Setting) -> None:
    """Remove the setting if it was put in by us, and is as it was put in."""
    section = document.get(setting.section)
    if not isinstance(section, dict) or section.get(setting.name) != setting.value:
        return
    put_in = _said_to_be_put_in(document)
    if put_in in (setting.section, f"{setting.section}.{setting.name}"):
        rest = {name: value for name, value in section.items() if name != setting.name}
        document[setting.section] = rest
        if not rest and put_in == setting.section:
            del document[setting.section]


def _said_to_be_put_in(document: Mapping[str, Any]) -> str:
    for groups in _object(document, "hooks").values():
        for group in groups if isinstance(groups, list) else []:
            for entry in _entries(group):
                said = entry.get(_SAYS_WHAT) if isinstance(entry, dict) else None
                if isinstance(said, str) and said.startswith(_PUT_IN):
                    return said.removeprefix(_PUT_IN)
    return ""


def _entries(group: object) -> list[Any]:
    entries = group.get("hooks") if isinstance(group, dict) else None
    return entries if isinstance(entries, list) else []


def _ours_in(groups: object) -> Iterator[str]:
    for group in groups if isinstance(groups, list) else []:
        for entry in _entries(group):
            command = entry.get("command") if isinstance(entry, dict) else None
            if isinstance(command, str) and is_ours(command):
                yield command


def _without_ours(group: Any) -> Any:
    """Return a group without our hooks; None if it has no others."""
    entries = _entries(group)
    kept = [
        each for each in entries if not (isinstance(each, dict) and is_ours(each.get("command")))
    ]
    if len(kept) == len(entries):
        return group
    return {**group, "hooks": kept} if kept else None


def _written(document: Mapping[str, Any], like: str) -> str:
    """Return a document as text, indented as the text that it was read from."""
    found = _INDENT.search(like)
    is_one_line = like.strip() not in ("", "{}") and "\n" not in like.strip()
    indent = None if is_one_line else found[0] if found else "  "
    text = json.dumps(document, indent=indent, ensure_ascii=False)
    return text if like.strip() and not like.endswith("\n") else text + "\n"

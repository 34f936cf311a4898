"""Hooks in settings of JSON, as Claude Code and Gemini CLI have them: ``hooks.EVENT[].hooks[]``."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any

from siding.agents.hooks import Moment
from siding.agents.json_text import Path, grown, is_adjacent, one_line, parsed, take_out
from siding.agents.settings import Hook, NotMergeable, is_ours
from siding.ground.namedtuples import NamedTuple

Moments = Mapping[str, tuple[Moment, int]]  # with how many seconds a hook may take
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

    They are changed in place (`json_text`), so that all else is as it was, byte for byte. Where a
    person or an agent has laid the file out anew, empty objects that our hooks were in go too.
    `place` is given the environment and the person's home.
    """

    def __init__(
        self,
        place: Callable[[Mapping[str, str], FilePath], FilePath],
        hooks: Sequence[Hook],
        *,
        unit: int = 1,
        setting: Setting | None = None,
        comments: bool = False,
    ) -> None:
        self._place = place
        self._hooks = hooks
        self._unit = unit  # how many of the agent's units of time a second has
        self._setting = setting
        self._comments = comments  # the agent passes over them

    def file(self, env: Mapping[str, str], home: FilePath) -> FilePath:
        return self._place(env, home) / "settings.json"

    def added(self, settings: str | None, command: str, file: FilePath) -> str:
        del file
        if settings is None:
            return json.dumps(self._with_ours({}, command), indent=2) + "\n"
        if not settings.strip():
            return settings + one_line(self._with_ours({}, command))
        before = self._document(settings)
        return grown(settings, before, self._with_ours(before, command))

    def _with_ours(self, before: Mapping[str, Any], command: str) -> dict[str, Any]:
        """Return what a document is to say; what it says already comes first, at each place."""
        document = dict(before)
        hooks = _object(document, "hooks")
        put_in = _put_in(document, self._setting) if self._setting else ""
        for hook in self._hooks:
            groups = hooks.get(hook.event, [])
            if not isinstance(groups, list):
                raise NotMergeable(f"its hooks of {hook.event} are not a list")
            seconds = hook.seconds * self._unit
            entry: dict[str, Any] = {"type": "command", "command": command, "timeout": seconds}
            if put_in:
                entry[_SAYS_WHAT] = _PUT_IN + put_in
                put_in = ""
            hooks[hook.event] = [*groups, {"hooks": [entry]}]
        document["hooks"] = hooks
        return document

    def removed(self, settings: str | None) -> str | None:
        if settings is None:
            return None
        commands = self.commands(settings)
        if not commands:
            return settings
        # Where there was no document we have made one. It is taken away if it is as we made it.
        blank = settings[: len(settings) - len(settings.lstrip())]
        for nothing in (None, blank):
            if any(self.added(nothing, each, FilePath()) == settings for each in commands):
                return nothing
        document = self._document(settings)
        text = settings
        paths = list(_paths_of_ours(document))
        is_laid_anew = is_adjacent(text, (*paths[0][:3], "hooks", 0))
        for path in reversed(paths):
            text = _without(text, path, is_laid_anew=is_laid_anew)
        if self._setting:
            text = self._without_setting(text, document, self._setting)
        return text

    def _without_setting(self, text: str, document: Mapping[str, Any], setting: Setting) -> str:
        """Remove the setting if it was put in by us, and is as it was put in."""
        section = document.get(setting.section)
        if not isinstance(section, dict) or section.get(setting.name) != setting.value:
            return text
        put_in = _said_to_be_put_in(document)
        if put_in == setting.section and len(section) == 1:
            return take_out(text, (setting.section,))[0]
        if put_in in (setting.section, f"{setting.section}.{setting.name}"):
            return take_out(text, (setting.section, setting.name))[0]
        return text

    def parsed(self, settings: str) -> Mapping[str, Any]:
        return self._document(settings)

    def commands(self, settings: str) -> set[str]:
        return set(_commands_of_ours(self._document(settings)))

    def _document(self, settings: str) -> dict[str, Any]:
        if not settings.strip():
            return {}
        document = parsed(settings, comments=self._comments)
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


def _paths_of_ours(document: Mapping[str, Any]) -> Iterator[Path]:
    """Yield where our hooks are: groups that have no others, and else the hooks themselves."""
    for event, groups in _object(document, "hooks").items():
        for number, group in enumerate(groups if isinstance(groups, list) else []):
            entries = _entries(group)
            ours = [at for at, entry in enumerate(entries) if _is_ours(entry)]
            if ours and len(ours) == len(entries):
                yield ("hooks", event, number)
            else:
                yield from (("hooks", event, number, "hooks", at) for at in ours)


def _commands_of_ours(document: Mapping[str, Any]) -> Iterator[str]:
    for groups in _object(document, "hooks").values():
        for group in groups if isinstance(groups, list) else []:
            yield from (entry["command"] for entry in _entries(group) if _is_ours(entry))


def _is_ours(entry: object) -> bool:
    return isinstance(entry, dict) and is_ours(entry.get("command"))


def _without(text: str, path: Path, *, is_laid_anew: bool) -> str:
    """Return the text without a hook of ours, and without what was put in to hold it."""
    text, is_left_bare = take_out(text, path, is_laid_anew=is_laid_anew)
    if is_left_bare and len(path) > 1:
        return _without(text, path[:-1], is_laid_anew=is_laid_anew)
    return text

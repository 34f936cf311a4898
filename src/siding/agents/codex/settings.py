"""Codex: hooks in ``config.toml``, and the trust in them.

They are a block of text between two comments at the end of the file, so that everything else stays
as it is, byte for byte. Codex starts no hook that is not trusted: the block names the hash of each,
under a key with the file's path, the event and the place among the hooks of that event.
"""

import json
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from siding.agents.codex.hooks import MOMENTS, trust_hash
from siding.agents.settings import NotMergeable, OwnSettings, is_ours
from siding.ground.storage.fields import mapping

# A newline before it goes with it; where there was no file there is none.
_BEGIN = "# siding integrate: what follows, up to the end mark, is Siding's\n"
_END = "# siding integrate: end\n"


class Codex:
    """The settings of Codex."""

    def file(self, env: Mapping[str, str], home: Path) -> Path:
        named = env.get("CODEX_HOME")
        # Where the variable is set, Codex itself resolves links in it.
        return (Path(os.path.realpath(named)) if named else home / ".codex") / "config.toml"

    def added(self, settings: str | None, command: str, file: Path) -> str:
        there = mapping(_parsed(settings or "").get("hooks"))
        lines = [_BEGIN] if settings is None else [settings, "\n", _BEGIN]
        for event, (_moment, name, seconds) in MOMENTS.items():
            groups = there.get(event, [])
            if not isinstance(groups, list):
                raise NotMergeable(f"its hooks of {event} are not a list")
            key = json.dumps(f"{file}:{name}:{len(groups)}:0")
            known = trust_hash(name, command, seconds)
            lines += [
                f"[[hooks.{event}]]\n[[hooks.{event}.hooks]]\n",
                f'type = "command"\ncommand = {_quoted(command)}\ntimeout = {seconds}\n',
                f'[hooks.state.{key}]\ntrusted_hash = "sha256:{known}"\n',
            ]
        text = "".join([*lines, _END])
        _parsed(text, "with hooks at its end ")
        return text

    def removed(self, settings: str | None) -> str | None:
        begin = -1 if settings is None else settings.find(_BEGIN)
        if settings is None or begin < 0:
            return settings
        end = settings.find(_END)
        if end < begin:
            raise NotMergeable("the end mark of Siding's part is gone: take it out by hand")
        text = settings[:begin].removesuffix("\n") + settings[end + len(_END) :]
        _parsed(text, "without Siding's part ")
        return None if begin == 0 and not text else text

    def parsed(self, settings: str) -> Mapping[str, Any]:
        return _parsed(settings)

    def commands(self, settings: str) -> set[str]:
        found: set[str] = set()
        for groups in mapping(_parsed(settings).get("hooks")).values():
            for group in groups if isinstance(groups, list) else []:
                entries = mapping(group).get("hooks")
                for entry in entries if isinstance(entries, list) else []:
                    command = mapping(entry).get("command")
                    if isinstance(command, str) and is_ours(command):
                        found.add(command)
        return found


SETTINGS: OwnSettings = Codex()


def _parsed(settings: str, how: str = "") -> dict[str, Any]:
    try:
        return tomllib.loads(settings)
    except ValueError as error:
        raise NotMergeable(f"it is {how}not valid TOML: {error}") from None


def _quoted(text: str) -> str:
    """Return a string of TOML; one of JSON is the same, but for what JSON does not escape."""
    return json.dumps(text).replace("\x7f", "\\u007f")

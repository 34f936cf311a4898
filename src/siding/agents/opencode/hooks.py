"""opencode: how it reports, and what its tools do.

A plugin is given for one run by settings in a variable, which opencode merges with all others; what
the person has in that variable is merged with ours. The plugin (`plugin.mjs`) lives in
opencode and speaks to the broker itself. Tried with 1.18.33.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from siding.agents.edits import patches, replaces, replaces_several, writes
from siding.agents.hooks import PERSON_S, Adapter, Injection, Moment, Reach, Report
from siding.agents.plain_words import Plain
from siding.agents.settings import without_comments
from siding.agents.tool_words import (
    NotUnderstood,
    ToolTable,
    command_of,
    fetched,
    patched,
    read,
    written,
)
from siding.ground.storage.fields import mapping, text

# -- Its tools: which do nothing, and what the others do -------------------------------------------

# Helpers and skills do nothing themselves: their calls are reported as those of the session are.
_HARMLESS = """
    codesearch glob invalid list list_mcp_resource_templates list_mcp_resources lsp plan_enter
    plan_exit question read_mcp_resource skill task todoread todowrite websearch
"""
_REPLACES = replaces("filePath", "oldString", "newString", ("replaceAll",))
TOOLS = ToolTable(
    shell="bash",
    touching={
        "read": {"filePath": read},
        "grep": {"path": read},
        "write": {"filePath": written},
        "edit": {"filePath": written},
        "multiedit": {"filePath": written},
        "patch": {"patchText": patched},
        "apply_patch": {"patchText": patched},
        "webfetch": {"url": fetched},
    },
    optional=frozenset({"grep"}),
    harmless=frozenset(_HARMLESS.split()),
    own="siding_",
    editing={
        "write": writes("filePath", "content"),
        "edit": _REPLACES,
        "multiedit": replaces_several("edits", "filePath", _REPLACES),
        "patch": patches("patchText"),
        "apply_patch": patches("patchText"),
    },
)


# -- How it reports --------------------------------------------------------------------------------

_CONTENT, _WANTED = "OPENCODE_CONFIG_CONTENT", "SIDING_OPENCODE"
_PLUGIN = Path(__file__).with_name("plugin.mjs").as_uri()

# Of these it starts no conversation here.
_OTHER_WORK = frozenset(
    """
    agent attach auth completion db debug export github import mcp models plug plugin pr providers
    session stats uninstall upgrade
    """.split()
)
_ONLY_TELLS = frozenset({"-h", "--help", "-v", "--version"})


class Opencode(Plain):
    """The adapter of opencode.

    Of a tool that is about to be used its plugin tells the name and the input, as `tool`, `given`.
    """

    def read(self, payload: Mapping[str, Any]) -> Report | None:
        said = super().read(payload)
        if said is None or said.moment is not Moment.TOOL or "given" not in payload:
            return said
        tool, given = text(payload.get("tool")), payload["given"]
        if TOOLS.does_nothing(tool):
            return None
        if not TOOLS.knows(tool):
            return said
        said = said._replace(unknown=None)
        try:
            if tool == TOOLS.shell:
                return said._replace(command=command_of(given))
            uses = TOOLS.use(tool, given)
            edits = TOOLS.edits(tool, given)
            return said._replace(uses=uses, edits=edits) if uses is not None else None
        except NotUnderstood as why:
            return said._replace(unread=f"{tool}: {why}")

    def injected(self, argv: tuple[str, ...], reach: Reach) -> Injection:
        if (_OTHER_WORK | _ONLY_TELLS).intersection(argv[1:2]):
            return Injection(argv, why_not="it begins no conversation")
        if "--pure" in argv or reach.env.get("OPENCODE_PURE"):
            return Injection(argv, why_not="--pure switches plugins off")
        try:
            merged = _merged(reach.env.get(_CONTENT, ""), reach)
        except ValueError:
            return Injection(argv, why_not=f"what {_CONTENT} holds cannot be read")
        wanted = {
            "judges": reach.judges,
            "closed": reach.requires,
            "calls": reach.calls,
            "holds": reach.holds,
        }
        words = ",".join(word for word, is_wanted in wanted.items() if is_wanted)
        return Injection(argv, {_CONTENT: json.dumps(merged), _WANTED: words})


ADAPTER: Adapter = Opencode()


def _merged(given: str, reach: Reach) -> dict[str, Any]:
    """Return the settings that are given with ours. Raises ValueError."""
    theirs: Any = json.loads(without_comments(given) if given.strip() else "{}")
    if not isinstance(theirs, dict):
        raise ValueError("settings are an object")  # noqa: TRY004 - of what is in a text
    plugins = theirs.get("plugin")
    found = {**theirs, "plugin": [*(plugins if isinstance(plugins, list) else []), _PLUGIN]}
    if reach.tools:
        found["mcp"] = {"siding": _server(reach), **mapping(theirs.get("mcp"))}
    return found


def _server(reach: Reach) -> Mapping[str, Any]:
    return {
        "type": "local",
        "command": list(reach.tools),
        "environment": {"SIDING_SOCKET": reach.socket},
        "timeout": PERSON_S * 1000,
    }

"""The Gemini CLI: how it reports, and what its tools do.

Its hooks are given for one run by settings of a system, whose file a variable names. It believes
such a file only if nobody but root can write it, or replace it: so it reports to root alone. The
file that counted before is merged with ours. A hook that is killed lets the tool run; the exit
status 2 blocks. Tried with 0.61.0.

It removes conversations by itself as it starts, also some that are gone on with: in `--resume` it
first begins a file of that name and the present minute, which stays empty if the conversation began
in another minute, and the next start takes empty files away with all that have the same id in their
names. So it keeps all conversations in our runs, if the person has not said how long they are kept;
where it is integrated, the person's own settings say so.
"""

import json
import posixpath
import re
import shlex
from collections.abc import Mapping
from typing import Any

from siding.agents.edits import replaces, writes
from siding.agents.hook_words import Hooked, Words, merged
from siding.agents.hooks import PERSON_S, Adapter, Answer, Injection, Moment, Reach, Report
from siding.agents.settings import without_comments
from siding.agents.tool_words import ToolTable, addressed, fetched, read, written
from siding.ground.storage.fields import mapping, text
from siding.shellguard.face import Effect

# -- Its tools: which do nothing, and what the others do -------------------------------------------

# Helpers do nothing themselves: their calls are reported as those of the session are.
_HARMLESS = """
    activate_skill ask_user codebase_investigator cli_help complete_task enter_plan_mode
    exit_plan_mode generalist get_internal_docs glob google_web_search invoke_agent list_directory
    list_background_processes read_background_output update_topic write_todos
    tracker_add_dependency tracker_create_task tracker_get_task tracker_list_tasks
    tracker_update_task tracker_visualize
"""
TOOLS = ToolTable(
    shell="run_shell_command",
    touching={
        "read_file": {"file_path": read, "absolute_path": read},
        "read_many_files": {"include": read, "paths": read},
        "search_file_content": {"dir_path": read, "path": read},
        "grep_search": {"dir_path": read, "path": read},
        "write_file": {"file_path": written},
        "replace": {"file_path": written},
        "web_fetch": {"prompt": addressed, "url": fetched},
    },
    optional=frozenset({"search_file_content", "grep_search"}),
    acting={"save_memory": lambda _given: ((Effect.WRITES, "~/.gemini/GEMINI.md"),)},
    harmless=frozenset(_HARMLESS.split()),
    own="mcp_siding_",
    editing={
        "write_file": writes("file_path", "content"),
        "replace": replaces("file_path", "old_string", "new_string", ("allow_multiple",)),
    },
)


# -- How it reports --------------------------------------------------------------------------------

_SYSTEM, _DEFAULTS = "GEMINI_CLI_SYSTEM_SETTINGS_PATH", "GEMINI_CLI_SYSTEM_DEFAULTS_PATH"
_USUAL = "/etc/gemini-cli/settings.json"  # of a system, where nothing else is named
_HOME = "GEMINI_CLI_HOME"
RETENTION, KEEPS_ALL = "sessionRetention", {"enabled": False}

# Of these it starts no conversation.
_OTHER_WORK = frozenset(
    {"mcp", "extension", "extensions", "skill", "skills", "hook", "hooks", "gemma"}
)
_ONLY_TELLS = frozenset(
    {"-h", "--help", "-v", "--version", "-l", "--list-extensions", "--list-sessions"}
)
MOMENTS = {
    "SessionStart": (Moment.SESSION, 30),  # and how many seconds the hook may take
    "BeforeAgent": (Moment.PROMPT, 120),
    "Notification": (Moment.WAITS, 30),
    "AfterAgent": (Moment.STOPPED, 300),
}
_WORDS = Words(
    {name: moment for name, (moment, _s) in MOMENTS.items()},
    TOOLS,
    prompt="BeforeAgent",
    judged="BeforeTool",
    called="AfterTool",
)
# Tools that may change files, or ask a person: that one has ended tells that nobody is waited for.
_ENDS = "run_shell_command|write_file|replace|web_fetch|mcp_.*"
_RECORDING_S = 300
# What a hook has said stands before the prompt of a person.
_OF_HOOKS = re.compile(r"\A\s*<hook_context>.*?</hook_context>\s*", re.DOTALL)


class Gemini(Hooked):
    """The adapter of the Gemini CLI.

    Its hooks name no prompt, so nobody can tell which ones a conversation can go on without. What a
    hook says as a session begins is written before the first prompt of `gemini -p`, and a prompt
    that begins so is left out when the conversation goes on; so it is said with the prompt.
    """

    greets = Moment.PROMPT

    def injected(self, argv: tuple[str, ...], reach: Reach) -> Injection:
        if (_OTHER_WORK | _ONLY_TELLS).intersection(argv[1:2]):
            return Injection(argv, why_not="it begins no conversation")
        if not reach.settings or not reach.of_root(posixpath.dirname(reach.settings)):
            why = "it takes hooks for one run only from a file that nobody but root can replace"
            return Injection(argv, why_not=why)
        old = reach.env.get(_SYSTEM) or _USUAL
        try:
            theirs = _settings(old, reach)
        except (OSError, ValueError):
            return Injection(argv, why_not=f"{old} cannot be read, and would no longer count")
        found = merged(theirs, _hooks(reach))
        if not (_says_what_is_kept(theirs) or _says_what_is_kept(_of_person(reach))):
            general = mapping(theirs.get("general"))
            found["general"] = {**general, RETENTION: KEEPS_ALL}
        if reach.tools:
            servers = {"siding": _server(reach), **mapping(theirs.get("mcpServers"))}
            found["mcpServers"] = servers
        beside_it = posixpath.join(posixpath.dirname(old), "system-defaults.json")
        env = {_SYSTEM: reach.settings, _DEFAULTS: reach.env.get(_DEFAULTS) or beside_it}
        return Injection(argv, env, settings=json.dumps(found))

    def read(self, payload: Mapping[str, Any]) -> Report | None:
        said = super().read(payload)
        if said is None:
            return None
        if said.moment is Moment.PROMPT:
            return said._replace(text=_OF_HOOKS.sub("", said.text, count=1))
        if said.moment is Moment.TOOL and said.command:
            where = text(mapping(payload.get("tool_input")).get("dir_path"))
            return said._replace(cwd=posixpath.join(said.cwd, where))
        return said

    def denied(self, reason: str) -> Answer:
        return Answer(json.dumps({"decision": "deny", "reason": reason}))


ADAPTER: Adapter = Gemini(_WORDS)


def _hooks(reach: Reach) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {
        name: [{"hooks": [_hook(reach.program, reach.seconds(moment, usual))]}]
        for name, (moment, usual) in MOMENTS.items()
    }
    if reach.judges:
        words = (*reach.program, "--closed" if reach.requires else "--judges")
        # `*` is every tool, also one that nobody has heard of.
        tools = "*" if reach.requires else "|".join(TOOLS.judged)
        found[_WORDS.judged] = [{"matcher": tools, "hooks": [_hook(words, PERSON_S)]}]
    called = {"matcher": _ENDS, "hooks": [_hook(reach.program, _RECORDING_S)]}
    found[_WORDS.called] = [called]
    return found


def _hook(program: tuple[str, ...], seconds: int) -> dict[str, Any]:
    # It shows the name while the hook runs, and without one the whole command.
    command = shlex.join(program)
    return {"name": "siding", "type": "command", "command": command, "timeout": seconds * 1000}


def _server(reach: Reach) -> dict[str, Any]:
    program, *words = reach.tools
    return {
        "command": program,
        "args": words,
        "env": {"SIDING_SOCKET": reach.socket},
        "trust": True,
        "timeout": PERSON_S * 1000,
    }


def _says_what_is_kept(settings: Mapping[str, Any]) -> bool:
    return RETENTION in mapping(settings.get("general"))


def _of_person(reach: Reach) -> Mapping[str, Any]:
    """Return the person's own settings, {} where they cannot be read."""
    home = reach.env.get(_HOME) or reach.env.get("HOME", "")
    try:
        found = json.loads(without_comments(reach.read(f"{home}/.gemini/settings.json")))
    except (OSError, ValueError):
        return {}
    return mapping(found)


def _settings(name: str, reach: Reach) -> Mapping[str, Any]:
    """Return the settings of the system that count without ours.

    What Gemini itself would pass over, because others can write it, must not count through us.
    """
    if not reach.of_root(name):
        return {}
    try:
        raw = reach.read(name)
    except FileNotFoundError:
        return {}
    found = json.loads(without_comments(raw))
    if not isinstance(found, dict):
        raise ValueError("settings are an object")  # noqa: TRY004 - of what is in a file
    return found

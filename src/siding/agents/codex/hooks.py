"""The Codex CLI: how it reports, and what its tools do, as its hooks name them.

Its hooks are given for one run by `-c hooks.EVENT`. Codex passes over hooks that nobody has
trusted, without a word; so the trust in ours, a hash of each, is given as well. Hooks that the
person has trusted in their own settings run beside ours. Tried with 0.169.0. A hook that is killed
lets the command run; the exit status 2 blocks.
"""

import json
import re
import shlex
from collections.abc import Mapping
from typing import Any

from siding.agents.codex import past as codex_past
from siding.agents.edits import PatchText, patches
from siding.agents.hook_words import CALLED, JUDGED, Hooked, Words
from siding.agents.hooks import PERSON_S, Adapter, Injection, Moment, Reach, Report, Takes
from siding.agents.tool_words import NotUnderstood, ToolTable, patched, read, typed
from siding.ground.hashing import sha256_hex

# -- Its tools: which do nothing, and what the others do -------------------------------------------

# It glues the name of a group to that of a tool: `collaborationspawn_agent`. The commands of a
# helper are reported as those of the session are.
_HELPERS = """
    followup_task interrupt_agent list_agents send_message spawn_agent wait_agent close_agent
    resume_agent send_input wait
"""
_HARMLESS = """
    create_goal get_goal update_goal update_plan request_user_input tool_search web_search
    list_mcp_resources list_mcp_resource_templates read_mcp_resource
"""
TOOLS = ToolTable(
    shell="Bash",
    touching={
        "apply_patch": {"command": patched},
        "view_image": {"path": read},
        "write_stdin": {"chars": typed},
    },
    harmless=frozenset(
        [
            *_HARMLESS.split(),
            *(f"{group}{name}" for group in ("", "collaboration") for name in _HELPERS.split()),
        ]
    ),
    editing={"apply_patch": patches("command")},
)


# -- How it reports --------------------------------------------------------------------------------

# Of these it starts no conversation.
_OTHER_WORK = frozenset(
    {
        "app-server",
        "apply",
        "a",
        "cloud",
        "completion",
        "debug",
        "features",
        "login",
        "logout",
        "mcp",
        "mcp-server",
        "sandbox",
        "update",
    }
)
_ONLY_TELLS = frozenset({"-h", "--help", "help", "-V", "--version"})
_INTERRUPT = "Interrupt"
MOMENTS = {
    "SessionStart": (Moment.SESSION, "session_start", 30),  # its name in the trust, and seconds
    "UserPromptSubmit": (Moment.PROMPT, "user_prompt_submit", 120),
    "Stop": (Moment.STOPPED, "stop", 300),
    _INTERRUPT: (Moment.STOPPED, "interrupt", 3),
}
_RECORDING_S = 300
# The text is quoted, so that no shell looks at it.
_PATCH = re.compile(
    r"""\s*apply_patch\s+<<-?\s*(?P<quote>['"])(?P<end>\w+)(?P=quote)(?P<patch>\n.*\n)(?P=end)\s*""",
    re.DOTALL,
)
# A command may have a terminal, into which its tool `write_stdin` types. Codex starts no hook for
# that tool, so where commands are judged there are no terminals: the input of a command is closed.
_TERMINALS = "unified_exec_tty"
_TRUSTED = "/<session-flags>/config.toml:{}:0:0"  # the first hook of an event among the flags


class Codex(Hooked):
    """The adapter of Codex."""

    takes = Takes.AT_END

    def read(self, payload: Mapping[str, Any]) -> Report | None:
        said = super().read(payload)
        if said is not None and payload.get("hook_event_name") == _INTERRUPT:
            return said._replace(interrupted=True)
        return said if said is None or not said.command else _as_patch(said)

    def injected(self, argv: tuple[str, ...], reach: Reach) -> Injection:
        program, rest = argv[0], argv[1:]
        if rest[:1] and rest[0] in _OTHER_WORK | _ONLY_TELLS:
            return Injection(argv, why_not="it begins no conversation")
        if any(_sets_hooks(word) for word in rest):
            return Injection(argv, why_not="it is given hooks by -c, of which only the last count")
        flags: list[str] = []
        trust: list[str] = []
        for event, (name, command, seconds) in _hooks(reach).items():
            hook = f'{{type="command",command={json.dumps(command)},timeout={seconds}}}'
            flags += ["-c", f"hooks.{event}=[{{hooks=[{hook}]}}]"]
            known = trust_hash(name, command, seconds)
            trust.append(f'"{_TRUSTED.format(name)}"={{trusted_hash="sha256:{known}"}}')
        flags += ["-c", f"hooks.state={{{','.join(trust)}}}"]
        if reach.tools:
            flags += ["-c", f"mcp_servers.siding={_server(reach)}"]
        unjudged = ""
        if reach.judges:
            flags += ["-c", f"features.{_TERMINALS}=false"]
            if any(_gives_terminals(word) for word in rest):
                unjudged = (
                    f"it is given {_TERMINALS}: what it types into a terminal is not reported"
                )
        return Injection((program, *flags, *rest), unjudged=unjudged)


_WORDS = Words({event: moment for event, (moment, _n, _s) in MOMENTS.items()}, TOOLS)
ADAPTER: Adapter = Codex(_WORDS, codex_past.continues, codex_past.without)


def _as_patch(said: Report) -> Report:
    """Return a command that does nothing but apply a patch as the use of that tool.

    So does Codex itself take it. Models to which it gives no such tool write it that way.
    """
    found = _PATCH.fullmatch(said.command)
    if found is None or f"\n{found['end']}\n" in found["patch"]:  # commands would follow it
        return said
    try:
        use = TOOLS.use("apply_patch", {"command": found["patch"]})
    except NotUnderstood:
        return said
    return said._replace(command="", uses=use, edits=(PatchText(found["patch"]),))


def _hooks(reach: Reach) -> dict[str, tuple[str, str, int]]:
    """Return name, command line and seconds of each hook."""
    found = {
        event: (name, shlex.join(reach.program), reach.seconds(moment, usual))
        for event, (moment, name, usual) in MOMENTS.items()
    }
    if reach.judges:
        words = (*reach.program, "--closed" if reach.requires else "--judges")
        found[JUDGED] = ("pre_tool_use", shlex.join(words), PERSON_S)
    if reach.calls:
        found[CALLED] = ("post_tool_use", shlex.join(reach.program), _RECORDING_S)
    return found


def _server(reach: Reach) -> str:
    """Return the server of the tools, in TOML. Codex gives it a filtered environment."""
    program, *words = reach.tools
    fields = {
        "command": json.dumps(program),
        "args": json.dumps(words),
        "env": f"{{SIDING_SOCKET={json.dumps(reach.socket)}}}",
        "default_tools_approval_mode": '"approve"',
        "tool_timeout_sec": str(PERSON_S),
    }
    return "{" + ",".join(f"{name}={value}" for name, value in fields.items()) + "}"


def _sets_hooks(word: str) -> bool:
    """Tell whether a word is a setting of hooks, as `-c` takes it, also behind `--config=`."""
    return word.removeprefix("--config=").startswith("hooks.")


def _gives_terminals(word: str) -> bool:
    """Tell whether a word switches terminals on again: the last one counts."""
    is_setting = word.removeprefix("--config=").startswith(("features", _TERMINALS, "--enable="))
    return is_setting and _TERMINALS in word


def trust_hash(event: str, command: str, seconds: int) -> str:
    """Return the hash by which Codex knows a hook that is trusted."""
    hook = {"async": False, "command": command, "timeout": seconds, "type": "command"}
    known = {"event_name": event, "hooks": [hook]}
    return sha256_hex(json.dumps(known, sort_keys=True, separators=(",", ":")).encode())

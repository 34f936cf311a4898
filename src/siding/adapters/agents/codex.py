"""The Codex CLI: what it keeps in a home, and how it reports.

Its hooks are given for one run by `-c hooks.EVENT`. Codex passes over hooks that nobody has
trusted, without a word; so the trust in ours, a hash of each, is given as well. Hooks that the
person has trusted in their own settings run beside ours. Tried with 0.169.0. A hook that is killed
lets the command run; the exit status 2 blocks.
"""

import json
import shlex

from siding.adapters.agents import codex_past
from siding.adapters.agents.hook_words import CALLED, JUDGED, Hooked, Words
from siding.adapters.agents.port import PERSON_S, Injection, Moment, Reach
from siding.hashing import sha256_hex
from siding.process.sandbox.homes import AgentPlaces, below

PLACES = AgentPlaces(
    sessions=(".codex/sessions",),
    writable=below(".codex", "archived_sessions", "log", "auth.json", "history.jsonl"),
    readable=below(
        ".codex",
        "config.toml",
        "AGENTS.md",
        "prompts",
        "skills",
        "rules",
        "plugins",
        "packages",
    ),
    copied=below(".codex", "version.json", "models_cache.json", "installation_id"),
)

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
MOMENTS = {
    "SessionStart": (Moment.SESSION, "session_start", 30),  # its name in the trust, and seconds
    "UserPromptSubmit": (Moment.PROMPT, "user_prompt_submit", 120),
    "Stop": (Moment.STOPPED, "stop", 300),
    "Interrupt": (Moment.STOPPED, "interrupt", 3),
}
_RECORDING_S = 300
_TRUSTED = "/<session-flags>/config.toml:{}:0:0"  # the first hook of an event among the flags


class Codex(Hooked):
    """The adapter of Codex."""

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
        return Injection((program, *flags, *rest))


_WORDS = Words({event: moment for event, (moment, _n, _s) in MOMENTS.items()})
ADAPTER = Codex(_WORDS, codex_past.continues, codex_past.without)


def _hooks(reach: Reach) -> dict[str, tuple[str, str, int]]:
    """Return name, command line and seconds of each hook."""
    found = {
        event: (name, shlex.join(reach.program), reach.seconds(moment, usual))
        for event, (moment, name, usual) in MOMENTS.items()
    }
    if reach.judges:
        words = (*reach.program, "--closed") if reach.requires else reach.program
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


def trust_hash(event: str, command: str, seconds: int) -> str:
    """Return the hash by which Codex knows a hook that is trusted."""
    hook = {"async": False, "command": command, "timeout": seconds, "type": "command"}
    known = {"event_name": event, "hooks": [hook]}
    return sha256_hex(json.dumps(known, sort_keys=True, separators=(",", ":")).encode())

"""How Codex is held over its own protocol: `codex app-server`. Tried with 0.169.

A thread that may write into its workspace is written down as trusted, in the person's settings,
unless its workspace stands among the projects of the settings already. So it is named on the
command line: as trusted if the person trusts it, else as untrusted.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from siding.agents.codex.modes import MEANS, at_start
from siding.agents.codex.start_questions import kept_in, said_of_projects, trust_said
from siding.agents.codex.taken import proof_in
from siding.agents.codex.talker import CodexTalker, ThreadStart
from siding.agents.start_questions import CannotTell, Start
from siding.agents.talking.abilities import Abilities, Evidence
from siding.agents.talking.port import Hold, Opening, Proof, Sent, Talking
from siding.agents.talking.servers import as_codex
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import said

_ABILITIES = Abilities(
    evidence=Evidence.ID,
    steers=True,
    asks=True,
    gives_reason=True,
    always=True,
    questions=True,
    models=True,
    modes=True,
    efforts=True,
    pictures=True,
    commands=True,
    compacts=True,
    goes_back=True,
    own_screen=True,
    servers=True,
    web_servers=True,
)
# Of a person's flags: what the server takes as well, and what a thread is given in their place.
# (The server takes other flags of the screen before its name, and does nothing with them.)
_PASSED = frozenset({"-c", "--config", "--enable", "--disable"})
_OF_THREAD = {
    "-m": "model",
    "--model": "model",
    "-s": "sandbox",
    "--sandbox": "sandbox",
    "-a": "approvalPolicy",
    "--ask-for-approval": "approvalPolicy",
}
_ALL = frozenset({"--yolo", "--dangerously-bypass-approvals-and-sandbox"})


class _Options(NamedTuple):
    """A person's own flags."""

    passed: tuple[str, ...] = ()
    thread: Mapping[str, Any] = {}
    not_known: str = ""


class CodexTalking:
    """Codex."""

    abilities = _ABILITIES
    means = MEANS
    settles_s = 0.2  # killed at once it had all of it, 12 times of 12

    def opened(self, hold: Hold) -> Opening:
        options = _read(hold.options)
        start = _start(hold, options.passed)
        config: dict[str, Any] = {"model_reasoning_effort": hold.effort} if hold.effort else {}
        if hold.servers:  # over its input: a command line can be read by others
            config["mcp_servers"] = as_codex(hold.servers)
        thread = {
            "cwd": str(start.cwd),
            **options.thread,
            **at_start(hold.mode),
            **said(model=hold.model, developerInstructions=hold.text, config=config),
        }
        asked = ThreadStart(
            cwd=str(start.cwd),
            session=hold.session,
            before=hold.before,
            params=thread,
            mode=hold.mode,
            effort=hold.effort,
        )
        why_not = (
            f"codex app-server takes no {options.not_known}; leave it out, or set it in config.toml"
        )
        return Opening(
            argv=(*hold.program, "app-server", *options.passed, "-c", _trust(start)),
            talker=CodexTalker(asked, _ABILITIES),
            why_not=why_not if options.not_known else "",
        )

    def proof(self, sent: Sent, hold: Hold) -> Proof:
        return proof_in(kept_in(_start(hold)), sent)

    def own_screen(self, hold: Hold) -> tuple[str, ...]:
        if not hold.session:
            return ()
        model = ("-m", hold.model) if hold.model else ()
        return (*hold.program, "resume", *hold.options, *model, hold.session)


TALKING: Talking = CodexTalking()


def _start(hold: Hold, options: tuple[str, ...] = ()) -> Start:
    cwd = Path(os.path.realpath(hold.cwd))
    return Start(argv=(*hold.program, *options), cwd=cwd, env=hold.env)


def _read(options: tuple[str, ...]) -> _Options:
    passed: list[str] = []
    thread: dict[str, Any] = {}
    words = list(options)
    while words:
        name, is_joined, value = words.pop(0).partition("=")
        if name in _ALL:
            thread |= at_start("full-access")
        elif name not in _PASSED and name not in _OF_THREAD:
            return _Options(not_known=name)
        else:
            if not is_joined:
                value = words.pop(0) if words else ""
            if name in _PASSED:
                passed += (name, value)
            else:
                thread[_OF_THREAD[name]] = value
    return _Options(tuple(passed), thread)


def _trust(start: Start) -> str:
    """Return the setting that says whether the workspace is trusted, and all that the flags say."""
    try:
        level = "trusted" if trust_said(start) == "trusted" else "untrusted"
    except CannotTell:  # Codex itself will say what is wrong with its settings
        level = "untrusted"
    levels = {**said_of_projects(start), str(start.cwd): level}
    entries = (
        f"{json.dumps(path)}={{trust_level={json.dumps(each)}}}" for path, each in levels.items()
    )
    return f"projects={{{','.join(entries)}}}"

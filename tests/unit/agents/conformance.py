"""What holds for a facet of any agent: one check for each port.

`check(agent, facet)` is called with the row of an agent and the name of a module in its folder.
What comes from an agent is untrusted, so each check also hands over what is odd.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from siding.agents.headless.port import AGAIN, HEADLESS, Ask, Level, PromptAgain, Seen
from siding.agents.hooks import ADAPTER, Moment, Reach, Report, Takes
from siding.agents.places import GIT_SETTINGS, HOSTS, PLACES, TOOLS
from siding.agents.settings import SETTINGS
from siding.agents.start_questions import SAYS
from siding.agents.start_questions import start_questions as asks_first
from siding.agents.table import Agent
from siding.agents.talking.port import TALKING, Hold, Proof, Sent, Unread
from siding.agents.transcripts.counting import COUNTING, Counted, alone, read_file
from siding.agents.transcripts.homes import HOME, found, subagents_of
from siding.agents.transcripts.interchange import INTERCHANGE, bring_in, form_of, give_out
from siding.agents.transcripts.store import SessionStore
from siding.agents.transcripts.summaries import LINES, summary_of
from siding.agents.wire import POINTED, pointed
from siding.sandbox.wire.hosts import rule_of

ODD_LINES = (b"", b"{", b"[]", b"null", b'{"type": 1, "message": [], "payload": 0}', b'"\\ud800"')
PAYLOADS: tuple[dict[str, Any], ...] = (
    {},
    {"hook_event_name": 7, "moment": []},
    {"hook_event_name": "Stop", "session_id": {}, "moment": "stopped", "session": 1},
)
OURS = "python3 /opt/siding/ground/process/broker/integrated.py"


def check(agent: Agent, facet: str, samples: Path, scratch: Path) -> None:
    """Hold one facet of an agent to its port. `samples` has a real transcript of the agent."""
    CHECKS[facet](agent, samples, scratch)


def places(agent: Agent, _samples: Path, _scratch: Path) -> None:
    """They lie below a home, are of one kind, and nothing writable holds what may not be."""
    kept, hosts = PLACES.of(agent.name), HOSTS.of(agent.name)
    assert kept is not None
    assert hosts is not None
    paths = [path for kind in kept for path in kind]
    assert paths
    assert len(paths) == len(set(paths))
    for path in paths:
        assert not path.startswith(("/", "~"))
        assert not {"", ".", ".."} & set(path.split("/")), path
        assert path not in (*TOOLS, *GIT_SETTINGS)
    for opened in (*kept.sessions, *kept.writable):
        for closed in (*kept.readable, *kept.private, *kept.copied):
            assert not f"{closed}/".startswith(f"{opened}/"), (opened, closed)
    assert all(rule_of(host) for host in hosts)


def hooks(agent: Agent, _samples: Path, scratch: Path) -> None:
    """It is started with its own words, and what it reports may be anything."""
    adapter = ADAPTER.of(agent.name)
    assert adapter is not None
    argv = (agent.programs[0], "fix the parser")
    reach = Reach(program=("hook",), settings=str(scratch / "s"), sessions=str(scratch))
    for told in (reach, reach._replace(judges=True, requires=True, calls=True)):
        found = adapter.injected(argv, told)
        assert [word for word in found.argv if word in argv] == list(argv)
        assert not found.settings or json.loads(found.settings)
    assert adapter.greets in (Moment.SESSION, Moment.PROMPT)
    for payload in PAYLOADS:
        read = adapter.read(payload)
        assert read is None or isinstance(read, Report)
    assert "no" in json.dumps(adapter.denied("no")._asdict())
    assert "told" in adapter.informed("told").output
    assert ("go on" in adapter.goes_on_with("go on").output) or adapter.takes is Takes.NEVER
    assert adapter.continues(argv) is None
    meanwhile = adapter.typed_in(ODD_LINES)
    assert meanwhile is None or not any(meanwhile)


def start_questions(agent: Agent, _samples: Path, scratch: Path) -> None:
    """Of a home in which it never was it asks something, and nothing where it draws no screen."""
    env = {"HOME": str(scratch)}
    argv = (agent.programs[0], "fix the parser")
    asked = asks_first(agent.name, argv, scratch, env)
    assert asked
    assert all(each in SAYS for each in asked)
    assert [*scratch.iterdir()] == []
    for word in agent.no_screen:
        assert asks_first(agent.name, (argv[0], word, argv[1]), scratch, env) == ()


def settings(agent: Agent, _samples: Path, scratch: Path) -> None:
    """Hooks go into no file, an empty file and one with something in it, and out again."""
    own = SETTINGS.of(agent.name)
    assert own is not None
    file = own.file({}, scratch)
    assert file.is_relative_to(scratch)
    for before in (None, "", "\n"):
        added = own.added(before, OURS, file)
        assert own.commands(added) == {OURS}
        assert own.parsed(added)
        assert own.removed(added) == before


def headless(agent: Agent, _samples: Path, _scratch: Path) -> None:
    """A prompt is handed over and is no word of the command line; any output is read."""
    adapter = HEADLESS.of(agent.name)
    assert adapter is not None
    prompt = "--help; x"
    for level in Level:
        ask = Ask(
            prompt=prompt,
            program=(agent.programs[0],),
            directory="/files",
            level=level,
            text="be kind",
            new_session="a-uuid",
        )
        made = adapter.invoked(ask)
        assert made.argv[0] == agent.programs[0]
        assert any(prompt in each for each in (made.stdin, *made.files.values()))
        assert not any(prompt in word for word in made.argv)
        stream = adapter.stream(ask)
        for line in ODD_LINES:
            stream.feed(line + b"\n")
        stream.end()
        assert isinstance(stream.seen, Seen)
    assert isinstance(adapter.takes_schema({"type": "object"}), bool)
    _again(agent)


def talking(agent: Agent, _samples: Path, scratch: Path) -> None:
    """It is started with the person's own flags; what it prints may be anything, cut anywhere."""
    found = TALKING.of(agent.name)
    assert found is not None
    assert found.settles_s >= 0
    options, env = ("--own", "flag"), {"HOME": str(scratch)}
    hold = Hold((agent.programs[0],), scratch, env, str(scratch / "f"), options, text="be kind")
    for told in (hold, hold._replace(session="a-uuid"), hold._replace(new_session="a-uuid")):
        made = found.opened(told)
        assert made.argv[0] == agent.programs[0]
        if made.why_not:  # a flag that its protocol has no place for is said
            assert options[0] in made.why_not
        else:
            assert [word for word in made.argv if word in options] == [*options]
        assert made.talker.session in ("", told.goes_on_from())
        made.talker.to_send()
        for line in ODD_LINES:
            for event in made.talker.receive(line + b"\n"):
                assert isinstance(event, Unread)
        assert made.talker.receive(b"") == []
        sent = Sent(prompt="a", text="b", turn=0, session="a-uuid")
        assert found.proof(sent, told) is not Proof.TAKEN
    assert [*scratch.iterdir()] == []


def _again(agent: Agent) -> None:
    """The prompt stands once in the command line, and the conversation if one is named."""
    made = AGAIN.of(agent.name)
    assert made is not None
    asked = PromptAgain(
        argv=(agent.programs[0], "old words"),
        prompt="new words",
        session="",
        alone=True,
        said=("old words",),
    )
    if not made(asked):  # it goes on with no conversation
        assert not agent.resumes
        return
    for alone_ in (True, False):
        for session in ("", "0123456789abcdef"):
            words = made(asked._replace(alone=alone_, session=session))
            assert words[0] == agent.programs[0]
            assert sum("new words" in word for word in words) == 1
            assert not any("old words" in word for word in words)
            assert (session in words) is bool(session)


def wire(agent: Agent, _samples: Path, _scratch: Path) -> None:
    """Without a file that can be read it keeps its own words, and says what is not metered."""
    assert POINTED.of(agent.name) is not None

    def read(path: str) -> str:
        raise FileNotFoundError(path)

    argv = (agent.programs[0], "fix the parser")
    made = pointed(agent.name, argv, {"HOME": "/home/somebody"}, lambda url: f"{url}/x", read)
    assert [word for word in made.argv if word in argv] == list(argv)
    assert all(isinstance(value, str) for value in made.env.values())


def home(agent: Agent, _samples: Path, scratch: Path) -> None:
    """A home with nothing in it has no transcripts, and neither has a conversation subagents."""
    kept = HOME.of(agent.name)
    assert kept is not None
    assert kept.root({}, scratch).is_relative_to(scratch)
    assert [each for each in found({}, scratch) if each.client == agent.name] == []
    assert [*subagents_of(agent.name, scratch / "a/b/c/d/e.jsonl", "e", 0)] == []


def lines(agent: Agent, samples: Path, _scratch: Path) -> None:
    """Of a real transcript it says what was asked and what a tool did; of an odd line nothing."""
    kept = LINES.of(agent.name)
    assert kept is not None
    (sample,) = samples.glob(f"{agent.name}-*.jsonl")
    summary = summary_of(alone(agent.name, sample))
    assert summary.prompt == "Change the greeting"
    assert summary.messages >= 2
    assert summary.spoken_at
    words = [kept.words(line) for line in sample.read_bytes().splitlines()]
    said = [(each[0], each[2]) for each in words if each is not None]
    assert any("Change the greeting" in text for who, text in said if who == "user")
    assert any("hello.py" in text for who, text in said if who == "assistant")
    assert [line for line in ODD_LINES if kept.words(line)] == []


def interchange(agent: Agent, samples: Path, scratch: Path) -> None:
    """A real transcript is known, comes in, and goes out as it came."""
    assert INTERCHANGE.of(agent.name) is not None
    (sample,) = samples.glob(f"{agent.name}-*.jsonl")
    assert form_of(sample) == agent.name
    store = SessionStore(scratch / "sessions")
    arrived = bring_in(store, sample)
    assert arrived.lines > 1
    assert bring_in(store, sample).lines == 0
    (given,) = give_out(store, arrived.session_id, agent.name, scratch / "out")
    assert given.read_bytes() == sample.read_bytes()


def counting(agent: Agent, samples: Path, scratch: Path) -> None:
    """What a real transcript has used is counted; an odd line counts nothing."""
    kept = COUNTING.of(agent.name)
    assert kept is not None
    odd = Counted("")
    for line in ODD_LINES:
        kept.take(odd, line)
        kept.take_document(odd, line)
    assert odd.calls == []
    assert all(path.is_absolute() for path in kept.others({"HOME": str(scratch)}, scratch))
    for sample in samples.glob(f"{agent.name}-*.jsonl"):
        (conversation,) = read_file(alone(agent.name, sample)).conversations
        assert sum(call.tokens.total for call in conversation.calls) > 0


CHECKS: Mapping[str, Callable[[Agent, Path, Path], None]] = {
    each.__name__: each
    for each in (
        *(places, hooks, settings, headless, talking),
        *(wire, start_questions, home, lines, interchange, counting),
    )
}

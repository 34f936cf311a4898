"""What holds for every agent that is held over its own protocol: the talkers' conformance suite.

The cases of `TestHeld` share one process of each agent: to start one takes seconds.
"""

import base64
import hashlib
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path

import pytest

from agents.models import Held, Pieces, Thought
from agents.talking.acp_rows import ACP_ROWS
from agents.talking.driver import Driven, said
from agents.talking.rows import PICTURE, Place
from agents.talking.rows import ROWS as OWN_ROWS
from siding.agents.talking.abilities import Evidence
from siding.agents.talking.port import (
    Answer,
    Applied,
    Asked,
    AskGone,
    CommandsChanged,
    Compacted,
    Edit,
    Event,
    How,
    Part,
    Picture,
    PromptTaken,
    Proof,
    Sent,
    Text,
    ToolEnded,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from siding.agents.talking.port import Thought as Thinking

ROWS = {**OWN_ROWS, **ACP_ROWS}
pytestmark = [pytest.mark.timeout(300), pytest.mark.parametrize("name", list(ROWS))]
DELAYS_MS = (0, 30, 100, 400)
# A command that runs until the file `go` is there.
WAITS = "touch begun; until [ -e go ]; do sleep 0.05; done; rm begun go; touch over"


def place_of(name: str, directory: Path) -> Place:
    if ROWS[name].executable is None:
        pytest.skip(f"{name} is not installed (npm: {ROWS[name].kind.package})")
    return Place(ROWS[name], directory)


@pytest.fixture
def place(name: str, tmp_path: Path) -> Iterator[Place]:
    """A place for one test; no agent is held in it yet."""
    found = place_of(name, tmp_path)
    yield found
    found.close()


@pytest.fixture(scope="module")
def places() -> Iterator[dict[str, Place]]:
    """The places of `TestHeld`, by the agent's name."""
    found: dict[str, Place] = {}
    yield found
    for each in found.values():
        each.close()


@pytest.fixture
def held(name: str, places: dict[str, Place], tmp_path_factory: pytest.TempPathFactory) -> Place:
    """The place in which an agent is held for several tests; no turn runs."""
    if name not in places:
        places[name] = place_of(name, tmp_path_factory.mktemp(name))
        places[name].begin()
    return places[name]


def turn(place: Place, *prompt: Part) -> list[Event]:
    """Send a prompt and wait for its end; whatever it asks is allowed."""
    driven = place.driven[-1]
    driven.prompt(*prompt)
    return driven.allowed_turn()


def texts(events: Sequence[Event]) -> str:
    return "".join(each.text for each in events if isinstance(each, Text) and not each.inside)


def ended(events: Sequence[Event]) -> TurnEnded:
    end = events[-1]
    assert isinstance(end, TurnEnded)
    return end


def began(place: Place) -> Driven:
    """Have a command run that waits; return when it does."""
    driven = place.driven[-1]
    driven.prompt("Wait")
    if driven.talker.abilities.asks:
        driven.talker.answer(driven.until(Asked).ask, Answer(allows=True))
    driven.pump_until((place.workspace / "begun").exists)
    return driven


def let_go(place: Place) -> None:
    """Have what waited end, if it is there still."""
    (place.workspace / "go").touch()
    place.driven[-1].pump(0.3)
    for name in ("go", "begun", "over"):
        (place.workspace / name).unlink(missing_ok=True)


def lines_of(edit: Edit) -> list[str]:
    """Return the lines that an edit removes and adds, as a patch has them."""
    if edit.patch:
        heads = ("---", "+++")
        lines = edit.patch.splitlines()
        return [each for each in lines if each[:1] in ("-", "+") and not each.startswith(heads)]
    old, new = (edit.old or "").splitlines(), (edit.new or "").splitlines()
    gone = [f"-{each}" for each in old if each not in new]
    return [*gone, *(f"+{each}" for each in new if each not in old)]


def edits(events: Sequence[Event]) -> list[Edit]:
    """Return the edits that were said last of each call."""
    found = [each.edits for each in events if isinstance(each, ToolStarted | Asked | ToolEnded)]
    return list([each for each in found if each][-1])


def changed(place: Place, path: str) -> list[str]:
    """Return the lines that git says are removed from and added to a file."""
    return lines_of(Edit(path, patch=place.sandbox.git("diff", path, cwd=place.workspace)))


class TestHeld:
    def test_it_opens_and_says_what_it_can(self, held: Place) -> None:
        driven = held.driven[0]
        if driven.talker.abilities.commands and not driven.opened_as.commands:
            assert driven.until(CommandsChanged).commands  # some tell of them a moment later
        else:
            assert bool(driven.opened_as.commands) == driven.talker.abilities.commands
        assert driven.talker.abilities.evidence is held.row.talking.abilities.evidence

    def test_a_turn_with_streamed_text(self, held: Place) -> None:
        held.model.says([Pieces("one two three four")])
        events = turn(held, "Count them")
        assert texts(events) == "one two three four"
        assert len([each for each in events if isinstance(each, Text)]) > 1
        assert ended(events).how is How.DONE
        assert "Count them" in said(held.model.requests[-1])

    def test_it_says_that_it_has_the_prompt(self, held: Place) -> None:
        held.model.says(["Yes."])
        driven = held.driven[-1]
        prompt = driven.prompt("Here?")
        events = driven.turn()
        assert PromptTaken(prompt=prompt) in events
        assert TurnStarted(prompt=prompt) in events

    def test_thoughts_are_apart(self, held: Place) -> None:
        held.model.says([Thought("Hm, so many."), Pieces("There are four.")])
        events = turn(held, "How many?")
        assert texts(events) == "There are four."
        thought = "".join(each.text for each in events if isinstance(each, Thinking))
        assert thought == ("Hm, so many." if held.row.thinks else "")

    def test_two_turns_are_one_conversation(self, held: Place) -> None:
        held.model.says(["Blue."], ["Red."])
        turn(held, "The first colour?")
        events = turn(held, "The second colour?")
        assert texts(events) == "Red."
        asked = said(held.model.requests[-1])
        assert asked.index("The first colour?") < asked.index("Blue.")
        assert asked.index("Blue.") < asked.index("The second colour?")

    def test_a_tool_with_its_edit(self, held: Place) -> None:
        path = held.workspace / "new.txt"
        held.model.says([held.agent.writes(path)], ["Written."])
        events = turn(held, "Write it")
        (started,) = (each for each in events if isinstance(each, ToolStarted))
        assert started.kind == "edit"
        assert [each.failed for each in events if isinstance(each, ToolEnded)] == [False]
        (edit,) = edits(events)
        assert Path(held.workspace, edit.path) == path
        held.sandbox.git("add", "-N", "new.txt", cwd=held.workspace)
        assert lines_of(edit) == lines_of(
            Edit("new.txt", held.sandbox.git("diff", "new.txt", cwd=held.workspace))
        )

    def test_an_edit_of_a_file_that_is_there(self, held: Place) -> None:
        path = held.workspace / "src" / "a.py"
        held.model.says(*held.row.edits(path, "a = 1\n", "a = 2\n"), ["Changed."])
        if not held.model.left_to_say[1:]:
            return
        (edit,) = edits(turn(held, "Change it"))
        assert lines_of(edit) == lines_of(
            Edit("src/a.py", held.sandbox.git("diff", "src/a.py", cwd=held.workspace))
        )

    def test_a_permission_is_asked_and_allowed(self, held: Place) -> None:
        driven, path = held.driven[-1], held.workspace / "asked.txt"
        held.model.says([held.agent.shell("touch asked.txt")], ["Done."])
        driven.prompt("Make it")
        if driven.talker.abilities.asks:
            asked = driven.until(Asked)
            assert "touch asked.txt" in asked.command
            assert not path.exists()
            driven.talker.answer(asked.ask, Answer(allows=True))
            driven.talker.answer(asked.ask, Answer(allows=False))  # the second is passed over
        assert ended(driven.turn()).how is How.DONE
        assert path.exists()

    def test_a_permission_is_denied_with_a_reason(self, held: Place) -> None:
        driven = held.driven[-1]
        held.model.says([held.agent.shell("touch denied.txt")], ["Well."])
        driven.prompt("Make the other")
        if driven.talker.abilities.asks:
            because = Answer(allows=False, reason="because of the moon")
            driven.talker.answer(driven.until(Asked).ask, because)
            driven.turn()
            assert not (held.workspace / "denied.txt").exists()
            told = "because of the moon" in said(held.model.requests[-1])
            assert told == driven.talker.abilities.gives_reason
        else:
            driven.turn()

    def test_it_is_stopped_in_a_text(self, held: Place) -> None:
        driven = held.driven[-1]
        held.model.says(Held("It begins"), ["And again."])
        driven.prompt("Talk")
        driven.until(Text)
        driven.talker.stop()
        assert driven.until(TurnEnded).how is How.STOPPED
        assert texts(turn(held, "Again")) == "And again."

    def test_it_is_stopped_in_a_tool(self, held: Place) -> None:
        held.model.says([held.agent.shell(WAITS)], ["No."])
        driven = began(held)
        driven.pump(0.5)  # Codex itself ends a command that is younger than this
        driven.talker.stop()
        assert driven.until(TurnEnded).how is How.STOPPED
        driven.pump(1)
        (held.workspace / "go").touch()
        driven.pump(0.5)
        assert not (held.workspace / "over").exists()  # the tool was ended as well
        let_go(held)
        held.model.says(["Here."])
        assert texts(turn(held, "Still there?")) == "Here."

    def test_what_it_asked_is_gone_after_a_stop(self, held: Place) -> None:
        driven = held.driven[-1]
        if not driven.talker.abilities.asks:
            return
        held.model.says([held.agent.shell("touch stopped.txt")], ["No."])
        driven.prompt("Make a third")
        asked = driven.until(Asked)
        driven.talker.stop()
        events = driven.turn()
        assert AskGone(asked.ask) in events
        assert ended(events).how is How.STOPPED
        driven.talker.answer(asked.ask, Answer(allows=True))
        driven.pump(0.3)
        assert not (held.workspace / "stopped.txt").exists()

    def test_a_steer_goes_into_the_turn(self, held: Place) -> None:
        if not held.driven[-1].talker.abilities.steers:
            return
        held.model.says([held.agent.shell(WAITS)], ["Briefly."])
        driven = began(held)
        steered = driven.steer("Be brief")
        driven.pump(held.row.steers_s)
        (held.workspace / "go").touch()
        events = driven.turn()
        assert PromptTaken(prompt=steered) in events
        assert ended(events) == TurnEnded(How.DONE)
        assert "Be brief" in said(held.model.requests[-1])
        assert len(held.model.requests) == 2
        let_go(held)

    def test_a_steer_that_was_not_taken_is_left(self, held: Place) -> None:
        if not held.driven[-1].talker.abilities.steers:
            return
        held.model.says([held.agent.shell(WAITS)], ["Never said."])
        driven = began(held)
        steered = driven.steer("Too late for this")
        driven.pump(held.row.steers_s)
        driven.talker.stop()
        end = driven.until(TurnEnded)
        assert (end.how, end.left) == (How.STOPPED, (steered,))
        driven.pump(1)
        assert not any("Too late for this" in said(each) for each in held.model.requests)
        let_go(held)

    def test_a_picture_is_in_the_request(self, held: Place) -> None:
        if not held.driven[-1].talker.abilities.pictures:
            return
        path = held.sandbox.directory / "red.png"
        path.write_bytes(PICTURE)
        held.model.says(["Red."])
        turn(held, "Which colour?", Picture("image/png", PICTURE, str(path)))
        assert base64.b64encode(PICTURE).decode()[:40] in said(held.model.requests[-1])

    def test_a_question_is_answered(self, held: Place) -> None:
        driven = held.driven[-1]
        call = held.row.asks_person("Which colour?", ["Ultramarine", "Vermilion"])
        assert driven.talker.abilities.questions == (call is not None)
        if call is None:
            return
        if held.row.asks_person_in:
            driven = held.begin(mode=held.row.asks_person_in)
        held.model.says([call], ["I see."])
        driven.prompt("Ask me")
        asked = driven.until(Asked)
        (choice,) = asked.choices
        assert choice.question == "Which colour?"
        assert [label for label, _about in choice.options] == ["Ultramarine", "Vermilion"]
        driven.talker.answer(
            asked.ask, Answer(allows=True, choices={"Which colour?": "Ultramarine"})
        )
        assert ended(driven.turn()).how is How.DONE
        told = said(held.model.requests[-1])
        assert told.rindex("Ultramarine") > told.rindex("Vermilion")  # it was offered before it
        if held.row.asks_person_in:
            held.driven.remove(driven)
            driven.close()

    def test_the_model_is_changed(self, held: Place) -> None:
        driven = held.driven[-1]
        if not driven.talker.abilities.models or not held.row.other_model:
            return
        driven.talker.set(model=held.row.other_model)
        driven.until(Applied, lambda each: each.model == held.row.other_model)
        held.model.says(["Yes."])
        turn(held, "With the other")
        assert held.row.model_of(held.model.requests[-1]) == held.row.other_model

    def test_it_is_compacted(self, held: Place) -> None:
        driven = held.driven[-1]
        if not driven.talker.abilities.compacts:
            return
        held.model.says(["All of it in short."], ["On."])
        driven.talker.compact()
        driven.until(Compacted)
        driven.until(TurnEnded)
        held.model.says(["On."])
        assert texts(turn(held, "And on")) == "On."


def test_it_goes_on_in_a_new_process(place: Place) -> None:
    place.begin(["Noted."])
    turn(place, "Remember the walrus")
    place.driven[-1].pump(place.row.talking.settles_s)
    place.driven[-1].kill()
    place.go_on(["The walrus."])
    assert texts(turn(place, "What was it?")) == "The walrus."
    assert "Remember the walrus" in said(place.model.requests[-1])


def test_always_holds_for_the_conversation(place: Place) -> None:
    driven = place.begin()
    if not driven.talker.abilities.always:
        return
    call = place.agent.shell("touch 1.txt")
    place.model.says([call], ["Done."], [call], ["Done."])
    driven.prompt("Make it")
    asked = driven.until(Asked)
    assert asked.can_always
    driven.talker.answer(asked.ask, Answer(allows=True, always=True))
    driven.turn()
    (place.workspace / "1.txt").unlink()
    driven.prompt("Make it again")
    assert not [each for each in driven.turn() if isinstance(each, Asked)]
    assert (place.workspace / "1.txt").exists()
    assert place.sandbox.git("status", "--porcelain", cwd=place.workspace) == "?? 1.txt"


def files_below(directory: Path) -> dict[str, str]:
    return {
        str(path.relative_to(directory)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in directory.rglob("*")
        if path.is_file() and not path.is_symlink() and ".git" not in path.parts
    }


def test_nothing_else_is_written(place: Place) -> None:
    """Neither into the workspace nor into the person's settings, by a start and a turn."""
    home = Path(place.sandbox.env["HOME"])
    before = files_below(home), files_below(place.workspace)
    driven = place.begin([place.agent.shell("touch 1.txt")], ["Done."])
    turn(place, "Make it")
    driven.pump(place.row.talking.settles_s)
    driven.close()
    written = {name for name, _hash in files_below(home).items() ^ before[0].items()}
    assert {
        each for each in written if not any(fnmatch(each, glob) for glob in place.row.writes)
    } == set()
    changed = {name for name, _hash in files_below(place.workspace).items() ^ before[1].items()}
    assert changed == {"1.txt"}


@pytest.mark.parametrize("delay_ms", DELAYS_MS)
def test_what_its_record_proves_is_so(place: Place, delay_ms: int) -> None:
    """Killed a moment after a prompt was sent."""
    driven = place.begin(["First."], ["Second."])
    turn(place, "Say one")
    driven.pump(place.row.talking.settles_s)
    prompt = driven.prompt("Say two of it")
    driven.pump(delay_ms / 1000)
    driven.kill()
    was_asked = any("Say two of it" in said(each) for each in place.model.requests)
    sent = Sent(prompt=prompt, text="Say two of it", turn=1, session=driven.talker.session)
    proof = place.row.talking.proof(sent, place.hold())
    if proof is Proof.NOT_TAKEN:
        assert not was_asked
    place.go_on(["Third."])
    turn(place, "Say three")
    is_there = "Say two of it" in said(place.model.requests[-1])
    if proof is Proof.TAKEN:
        assert is_there
    elif proof is Proof.NOT_TAKEN:
        assert not is_there


def test_a_turn_that_has_ended_is_proven(place: Place) -> None:
    driven = place.begin(["First."])
    prompt = driven.prompt("Say one")
    driven.turn()
    driven.pump(place.row.talking.settles_s)
    driven.kill()
    sent = Sent(prompt=prompt, text="Say one", turn=0, session=driven.talker.session)
    talking = place.row.talking
    has = talking.abilities.evidence is not Evidence.NONE
    assert talking.proof(sent, place.hold()) is (Proof.TAKEN if has else Proof.UNSURE)
    never = sent._replace(prompt="11111111-1111-4111-8111-111111111111", text="Say nothing", turn=1)
    assert talking.proof(never, place.hold()) is not Proof.TAKEN

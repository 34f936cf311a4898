"""What holds for every script, every timing and every kill."""

import json
import os
from hashlib import sha256
from pathlib import Path
from random import Random

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from scratch import scratch
from siding.workflows.child.past import fingerprint
from siding.workflows.journal import read_journal
from unit.workflows.laws import CountingAgents, answered, counted_lines, cut, run_drawn
from unit.workflows.random_scripts import answer, draw, edited

# `prove` tries many.
pytestmark = pytest.mark.timeout(3600)
EXAMPLES = int(os.environ.get("SIDING_WORKFLOW_LAWS", "1"))
SEEDS = st.integers(min_value=0, max_value=1 << 30)
# A smaller seed is no smaller script, so nothing is gained by shrinking.
few = settings(max_examples=3 * EXAMPLES, deadline=None, phases=[Phase.generate])


def well(prompt: str) -> str:
    """Answer as `answer` does, and never be dead or skipped."""
    return "a" + answer(prompt)


@few
@given(SEEDS, SEEDS)
def test_two_runs_say_the_same_and_record_the_same(script: int, seed: int) -> None:
    drawn = draw(script)
    with scratch() as directory:
        one, other = Path(directory, "one"), Path(directory, "other")
        first = run_drawn(drawn, one, CountingAgents(seed))
        second = run_drawn(drawn, other, CountingAgents(seed + 1), max_concurrency=16)
        assert first.done.status == second.done.status == "completed", first.done
        assert first.done.value == second.done.value
        assert counted_lines(one) == counted_lines(other)


@few
@given(SEEDS, SEEDS, st.booleans())
def test_killed_at_any_byte_it_goes_on_and_nothing_finished_runs_twice(
    script: int, seed: int, shares: bool
) -> None:
    """Where lanes share a list, an agent that is dead and runs again comes later in it: none is."""
    drawn, random = draw(script, shares=shares), Random(seed)
    says = well if shares else answer
    with scratch() as directory:
        journal = Path(directory, "journal")
        whole = run_drawn(drawn, journal, CountingAgents(seed, says))
        assert whole.done.status == "completed", whole.done
        for kill in range(2):
            cut(journal, random)
            kept = answered(journal)
            agents = CountingAgents(seed + kill, says)
            ran = run_drawn(drawn, journal, agents)
            assert ran.done.status == "completed", ran.done
            assert not kept & set(agents.finished)
            assert max(agents.finished.values(), default=0) <= 1
            if not shares:
                assert ran.done.value == whole.done.value
        kept, agents = answered(journal), CountingAgents(seed, says)
        assert run_drawn(drawn, journal, agents).done.value == ran.done.value
        assert not kept & set(agents.finished)


@few
@given(SEEDS, SEEDS, st.booleans())
def test_a_script_that_was_edited_runs_what_the_rule_says(
    script: int, seed: int, is_cut: bool
) -> None:
    """The result is that of a run from nothing, also if the run was killed in between."""
    drawn, random = draw(script), Random(seed)
    if "ask-" not in drawn.source:
        return
    after = drawn._replace(source=edited(drawn.source, seed))
    with scratch() as directory:
        journal, fresh = Path(directory, "journal"), Path(directory, "fresh")
        run_drawn(drawn, journal, CountingAgents(seed))
        from_nothing = run_drawn(after, fresh, CountingAgents(seed))
        if is_cut:
            size = journal.stat().st_size
            run_drawn(after, journal, CountingAgents(seed))
            raw = journal.read_bytes()
            journal.write_bytes(raw[: random.randint(size, len(raw))])
        ran = run_drawn(after, journal, CountingAgents(seed))
        assert ran.done.status == "completed", ran.done
        assert ran.done.value == from_nothing.done.value
        now = {p: a.fingerprint for p, a in read_journal(journal).answers.items()}
        wanted = {p: a.fingerprint for p, a in read_journal(fresh).answers.items()}
        assert {p: now[p] for p in wanted} == wanted
        agents = CountingAgents(seed)
        run_drawn(after, journal, agents)
        assert not answered(fresh) & set(agents.finished)


@few
@given(SEEDS, SEEDS)
def test_a_dead_agent_that_comes_back_changes_what_follows(script: int, seed: int) -> None:
    drawn = draw(script, shares=False)

    def sometimes(prompt: str) -> str | None:
        text = answer(prompt)
        return None if text[1] in "0123" else "a" + text

    with scratch() as directory:
        journal, fresh = Path(directory, "journal"), Path(directory, "fresh")
        assert run_drawn(drawn, journal, CountingAgents(seed, sometimes)).done.status == "completed"
        cut(journal, Random(seed))
        agents = CountingAgents(seed, well)
        ran = run_drawn(drawn, journal, agents)
        from_nothing = run_drawn(drawn, fresh, CountingAgents(seed, well))
        assert ran.done.status == "completed", ran.done
        assert ran.done.value == from_nothing.done.value


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["prompt", "model", "label", "phase", "schema"]), JSON))
def test_a_fingerprint_is_of_what_is_asked_and_not_of_how_it_is_shown(asked: dict) -> None:  # type: ignore[type-arg]
    shown = {**asked, "label": "x", "phase": "y"}
    backwards = dict(reversed(json.loads(json.dumps(asked)).items()))
    assert fingerprint("agent", asked) == fingerprint("agent", shown)
    assert fingerprint("agent", asked) == fingerprint("agent", backwards)
    assert fingerprint("agent", asked) != fingerprint("ask", asked)
    same = {name: asked[name] for name in asked.keys() - {"label", "phase"}}
    text = json.dumps(same, sort_keys=True, separators=(",", ":"))  # what journals have
    assert fingerprint("agent", asked) == sha256(f"agent\n{text}".encode()).hexdigest()[:32]
    assert fingerprint("agent", asked) != fingerprint("agent", {**asked, "effort": "low"})

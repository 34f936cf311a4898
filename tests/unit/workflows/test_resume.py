"""How a run is resumed: what of its record is made again, and what that changes."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from siding.workflows.engine.engine import Engine
from siding.workflows.engine.plan import Policy, policy_from
from siding.workflows.engine.ports import Control
from siding.workflows.errors import BadResume
from siding.workflows.events import AgentDone, AgentRetry, AgentStarted, Event, Resumable
from siding.workflows.journal import read_journal
from siding.workflows.limits import Retrying
from siding.workflows.outcome import Dead, DeadReason
from unit.workflows.world import Ran, ScriptedAgents, as_before, lines, run_script

ABC = "return [await agent('a'), await agent('b'), await agent('c')]"
SAME = {"*": "same:<prompt>"}


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return tmp_path / "journal.jsonl"


def ok(value: object, **more: Any) -> list[dict[str, Any]]:
    return [{"kind": "ok", "output": value, **more}]


def answers(journal: Path) -> dict[str, Any]:
    return {path: one.result.get("output") for path, one in read_journal(journal).answers.items()}


class TestPolicies:
    @pytest.mark.parametrize(
        ("policy", "calls", "replayed"),
        [
            ({"scope": "checkpoint"}, [], 3),
            ({"scope": "all"}, ["a", "b", "c"], 0),
            ({"scope": "range", "fromAgentId": 1, "toAgentId": 1}, ["b"], 2),
            ({"scope": "range", "fromAgentId": 1, "toAgentId": 2}, ["b", "c"], 1),
            ({"scope": "agents", "agentIds": [0, 2]}, ["a", "c"], 1),
            ({"scope": "agents", "agentIds": [2, 1]}, ["b", "c"], 1),
        ],
    )
    def test_what_it_runs_again(
        self, policy: Mapping[str, Any], calls: list[str], replayed: int, journal: Path
    ) -> None:
        run_script(journal, ABC, SAME)
        ran = run_script(journal, ABC, SAME, policy=policy_from(policy))
        assert ran.agents.calls == calls
        assert ran.done.value == ["same:a", "same:b", "same:c"]
        resume = ran.done.resume
        assert resume is not None
        assert (resume.replayed, resume.live, resume.not_reached) == (replayed, len(calls), ())
        done = [one for one in ran.events if isinstance(one, AgentDone)]
        assert [one.is_replayed for one in done] == [one not in calls for one in ["a", "b", "c"]]

    def test_one_that_comes_out_differently_lets_what_follows_run_again(
        self, journal: Path
    ) -> None:
        run_script(journal, ABC, SAME)
        policy = policy_from({"scope": "agents", "agentIds": [1]})
        ran = run_script(journal, ABC, {"b": ok("other"), **SAME}, policy=policy)
        assert ran.agents.calls == ["b", "c"]
        assert ran.done.value == ["same:a", "other", "same:c"]

    @pytest.mark.parametrize(
        ("script", "table", "found"),
        [
            ("args['x']", SAME, Resumable.IS_EMPTY),
            ("await agent('a')\n1 / 0", SAME, Resumable.REPEATS),
            ("await agent('a')\n1 / 0", {}, Resumable.CHANGES),
            ("await agent('a', schema={'type': 7})", SAME, Resumable.CHANGES),
            ("await parallel([lambda: agent('a'), lambda: 1 / 0])\n1 / 0", {}, Resumable.CHANGES),
            ("try:\n await workflow('no')\nexcept Exception:\n 1 / 0", SAME, Resumable.CHANGES),
        ],
    )
    def test_a_script_that_raised_does_so_again_unless_something_is_asked_again(
        self, script: str, table: Mapping[str, Any], found: Resumable, journal: Path
    ) -> None:
        for _ in range(2):  # the second time all that counts is taken from the record
            done = run_script(journal, script, table).done
            assert (done.status, done.resumable) == ("failed", found)

    def test_one_that_is_not_reached_is_named(self, journal: Path) -> None:
        run_script(journal, ABC, SAME)
        policy = policy_from({"scope": "agents", "agentIds": [1, 7, 9]})
        resume = run_script(journal, ABC, SAME, policy=policy).done.resume
        assert resume is not None
        assert resume.not_reached == (7, 9)

    @pytest.mark.parametrize(
        ("policy", "said"),
        [
            ({"scope": "agents", "agentIds": [1, 1]}, "unique"),
            ({"scope": "agents", "agentIds": []}, "not an empty"),
            ({"scope": "agents", "agentIds": [1000]}, "no id"),
            ({"scope": "agents", "agentIds": [True]}, "no id"),
            ({"scope": "agents"}, "exactly"),
            ({"scope": "range", "fromAgentId": 2, "toAgentId": 1}, "empty"),
            ({"scope": "range", "fromAgentId": 2}, "exactly"),
            ({"scope": "all", "agentIds": [1]}, "exactly"),
            ({"scope": "none"}, "no such scope"),
        ],
    )
    def test_a_malformed_one_is_refused(self, policy: Mapping[str, Any], said: str) -> None:
        with pytest.raises(BadResume, match=said):
            policy_from(policy)

    def test_one_without_a_run_before_is_refused(self, journal: Path) -> None:
        with pytest.raises(BadResume, match="there was none"):
            run_script(journal, ABC, SAME, policy=policy_from({"scope": "all"}))
        assert not journal.exists()

    def test_single_agents_of_an_edited_script_are_refused(self, journal: Path) -> None:
        run_script(journal, ABC, SAME)
        before = journal.read_bytes()
        policy = policy_from({"scope": "agents", "agentIds": [1]})
        with pytest.raises(BadResume, match="changed"):
            run_script(journal, ABC + " ", SAME, policy=policy)
        assert journal.read_bytes() == before

    def test_a_spent_budget_keeps_the_tail(self, journal: Path) -> None:
        script = "return [await agent(x) for x in 'abcd']"
        run_script(journal, script, SAME)
        before = answers(journal)
        policy = policy_from({"scope": "agents", "agentIds": [1]})
        ran = run_script(journal, script, SAME, policy=policy, budget=0)
        assert ran.done.status == "failed"
        assert "budget" in ran.done.error
        assert answers(journal) == before
        assert run_script(journal, script, SAME).agents.calls == []

    def test_all_anew_with_fewer_calls_drops_the_tail(self, journal: Path) -> None:
        run_script(journal, ABC, SAME)
        run_script(journal, "return await agent('a')", SAME, policy=policy_from({"scope": "all"}))
        assert list(answers(journal)) == ["0"]


class TestDeadOnes:
    def test_the_same_nothing_keeps_what_follows(self, journal: Path) -> None:
        script = "return [await agent('a'), await agent('b')]"
        agents = {"a": [{"kind": "dead", "reason": "api-error"}], "b": ok("b")}
        run_script(journal, script, agents)
        ran = run_script(journal, script, agents, retrying=Retrying(limit=0))
        assert ran.agents.calls == ["a"]
        assert ran.done.value == [None, "b"]

    def test_one_that_comes_back_may_change_a_later_prompt(self, journal: Path) -> None:
        script = "a = await agent('a')\nreturn [a, await agent(f'b {a}')]"
        run_script(journal, script, {"a": [{"kind": "dead"}], **SAME})
        ran = run_script(journal, script, SAME)
        assert ran.done.value == ["same:a", "same:b same:a"], ran.done
        assert run_script(journal, script, SAME).agents.calls == []

    def test_one_that_was_being_run_again_is_compared_after_a_kill(self, journal: Path) -> None:
        script = "a = await agent('a')\nreturn [a, await agent('b')]"
        run_script(journal, script, {"a": [{"kind": "dead"}], **SAME})
        cut_off = ScriptedAgents({"a": [{"kind": "ok", "output": "late", "delay_ms": 60_000}]})
        run_script(journal, script, cut_off, stop_after_s=0.01)
        assert "0" in read_journal(journal).begun
        ran = run_script(journal, script, SAME)
        assert ran.agents.calls == ["a", "b"]


class TestRecord:
    def test_what_this_process_has_taken_is_not_dropped(self, journal: Path) -> None:
        """A call beside a lane that changed stays, also for the process after this one."""
        script = (
            "async def lane():\n    return await agent('NAME')\n"
            "p = parallel([lane])\nx = await agent('x')\nawait p\nreturn [x, await agent('y')]"
        )
        run_script(journal, script.replace("NAME", "one"), SAME)
        ran = run_script(journal, script.replace("NAME", "two"), SAME)
        assert sorted(ran.agents.calls) == ["two", "y"]
        assert run_script(journal, script.replace("NAME", "two"), SAME).agents.calls == []

    def test_a_changed_workflow_within_changes_what_follows_it(self, journal: Path) -> None:
        script = "await workflow('inner')\nreturn await agent('after')"
        run_script(journal, script, SAME, files={"inner": "return await agent('one')"})
        files = {"inner": "return await agent('two')"}
        ran = run_script(journal, script, SAME, files=files)
        assert ran.agents.calls == ["two", "after"]
        assert run_script(journal, script, SAME, files=files).agents.calls == []

    def test_a_workflow_that_is_gone_runs_as_it_was(self, journal: Path) -> None:
        script = "await workflow('inner')\nreturn await agent('after')"
        run_script(journal, script, SAME, files={"inner": "return await agent('one')"})
        assert run_script(journal, script, SAME, files={}).agents.calls == []

    def test_an_object_is_taken_from_the_record_only_if_it_fits_the_schema(
        self, journal: Path
    ) -> None:
        script = (
            "a = await agent('a', schema={'type': 'object', 'required': ['n']})\n"
            "return [a, await agent('b')]"
        )
        agents = {"a": ok({"n": 1}), **SAME}
        run_script(journal, script, agents)
        assert run_script(journal, script, agents).agents.calls == []
        as_before(journal)  # a record that an earlier release wrote, which checked less
        journal.write_bytes(journal.read_bytes().replace(b'"n":1', b'"m":1'))
        assert run_script(journal, script, agents).agents.calls == ["a", "b"]
        assert run_script(journal, script, agents).agents.calls == []
        other = script.replace("['n']", "['k']")
        ran = run_script(journal, other, {**agents, "a": ok({"k": 1})})
        assert ran.agents.calls == ["a", "b"]
        assert ran.done.value == [{"k": 1}, "same:b"]

    def test_a_refused_call_is_made_again_and_changes_nothing(self, journal: Path) -> None:
        script = (
            "try:\n    await agent('bad')\nexcept Exception:\n    log('caught')\n"
            "return await agent('good')"
        )
        agents = {"bad": [{"unavailable": "no such agent"}], **SAME}
        run_script(journal, script, agents)
        ran = run_script(journal, script, agents)
        assert ran.agents.calls == ["bad"]
        assert ran.done.value == "same:good"

    def test_the_same_script_that_calls_otherwise_is_an_error(self, journal: Path) -> None:
        run_script(journal, "return await agent('a')", SAME)
        as_before(journal)
        journal.write_text(journal.read_text().replace('"fp":"', '"fp":"0'))
        ran = run_script(journal, "return await agent('a')", SAME)
        assert ran.done.status == "failed"
        assert ran.done.kind == "not-deterministic"

    def test_a_result_that_cannot_be_recorded_is_a_dead_agent(self, journal: Path) -> None:
        deep: Any = []
        for _ in range(300):
            deep = [deep]
        agents = {"nan": ok("", output=float("nan")), "deep": ok("", output=deep), **SAME}
        ran = run_script(journal, "return [await agent(x) for x in ('nan', 'deep', 'b')]", agents)
        assert ran.done.value == [None, None, "same:b"]
        assert "cannot be recorded" in str(ran.warnings)

    def test_the_last_of_two_answers_counts_and_one_without_seq_has_its_line(
        self, journal: Path
    ) -> None:
        line = '{"t":"answer","path":"0","kind":"agent","fp":"x",'
        line += '%s"result":{"kind":"ok","output":"%s"}}\n'
        journal.write_text(line % ('"seq":4,', "old") + line % ("", "new"))
        answer = read_journal(journal).answers["0"]
        assert (answer.result["output"], answer.seq) == ("new", 1)
        assert read_journal(journal).next_seq == 5

    def test_a_last_line_torn_at_any_byte_is_made_again(self, journal: Path) -> None:
        run_script(journal, "return await agent('a')", SAME)
        whole = journal.read_bytes()
        start = whole.rindex(b"\n", 0, -1) + 1
        for size in range(start + 1, len(whole)):
            journal.write_bytes(whole[:size])
            recorded = read_journal(journal)
            assert recorded.answers == {}
            assert recorded.has_torn_line
        ran = run_script(journal, "return await agent('a')", SAME)
        assert ran.done.value == "same:a"
        assert "torn" not in str(run_script(journal, "return await agent('a')", SAME).said)


class TestRetries:
    @pytest.mark.parametrize(
        ("dead", "tries"),
        [
            ({}, 4),
            ({"reason": "api-error"}, 4),
            ({"reason": "no-structured-output"}, 2),
            ({"reason": "invalid-structured-output"}, 2),
            ({"reason": "worktree-failed"}, 2),
            ({"reason": "prompt-too-long"}, 1),
            ({"reason": "blocked"}, 1),
            ({"retryable": False}, 1),
        ],
    )
    def test_how_often_a_cause_is_tried(
        self, dead: Mapping[str, Any], tries: int, journal: Path
    ) -> None:
        agents = {"x": [{"kind": "dead", **dead}]}
        retrying = Retrying(limit=3, waits=False)
        ran = run_script(journal, "return await agent('x')", agents, retrying=retrying)
        assert ran.agents.calls == ["x"] * tries
        told = [one for one in ran.events if isinstance(one, AgentStarted | AgentRetry | AgentDone)]
        assert [type(one) for one in told] == [AgentStarted, *[AgentRetry] * (tries - 1), AgentDone]
        retries = [one for one in told if isinstance(one, AgentRetry)]
        assert [one.attempt for one in retries] == list(range(1, tries))
        assert {one.limit for one in retries} <= {tries - 1}

    def test_the_waits_double_and_have_up_to_a_quarter_more(self) -> None:
        waits = [Retrying().wait_s(retry, lambda: 0.0) for retry in (1, 2, 3)]
        assert waits == [2.0, 4.0, 8.0]
        assert [Retrying().wait_s(retry, lambda: 1.0) for retry in (1, 2, 3)] == [2.5, 5.0, 10.0]
        assert Retrying(waits=False).wait_s(1, lambda: 1.0) == 0.0

    def test_a_call_has_a_limit_of_its_own(self) -> None:
        retrying, dead = Retrying(limit=3), Dead()
        assert retrying.limit_for(dead, None) == 3
        assert retrying.limit_for(dead, 5) == 5
        assert retrying.limit_for(dead, 0) == retrying.limit_for(dead, -1) == 0
        assert retrying.limit_for(Dead(reason=DeadReason.WORKTREE_FAILED), 5) == 1

    @pytest.mark.parametrize(
        "mistake",
        [
            "raise ValueError('x')",
            "return [agent]",
            "return nonsense",
            "await agent('a', nonsense=1)",
            "await parallel([1] * 4097)",
            "await workflow('nest')",
            "await agent('gone')",
        ],
    )
    def test_a_mistake_of_the_script_runs_nobody_again(self, mistake: str, journal: Path) -> None:
        files = {"nest": "return await workflow('nest')"}
        agents = {"gone": [{"unavailable": "no such agent"}], "dead": [{"kind": "dead"}], **SAME}
        script = f"await agent('dead', retries=0)\n{mistake}"
        ran = run_script(journal, script, agents, files=files, retries_script=True)
        assert ran.done.status == "failed"
        assert ran.agents.calls.count("dead") == 1
        assert [line["t"] for line in lines(journal)].count("attempt") == 1


class TestControls:
    @staticmethod
    def _run(journal: Path, control: Control, kind: type, agents: Mapping[str, Any]) -> Ran:
        """Use a control once, at the first event of a kind."""
        used: list[Event] = []

        def use(engine: Engine, event: Event) -> None:
            if isinstance(event, kind) and not used:
                used.append(event)
                asyncio.get_running_loop().call_later(0.05, engine.control, 0, control)

        retrying = Retrying(limit=2, waits=True)
        script = "return await agent('x')"
        return run_script(journal, script, agents, control=use, retrying=retrying)

    def test_a_skip_while_it_waits_for_a_retry_runs_nothing_more(self, journal: Path) -> None:
        ran = self._run(journal, Control.SKIP, AgentRetry, {"x": [{"kind": "dead"}]})
        assert ran.agents.calls == ["x"]
        assert [line["result"] for line in lines(journal) if line["t"] == "answer"] == [
            {"kind": "skipped"}
        ]

    def test_a_kill_while_it_waits_for_a_retry_runs_nothing_more(self, journal: Path) -> None:
        ran = self._run(journal, Control.KILL, AgentRetry, {"x": [{"kind": "dead"}]})
        assert ran.agents.calls == ["x"]
        assert "killed" in str(ran.said)

    def test_a_retry_ends_the_attempt_and_begins_another(self, journal: Path) -> None:
        agents = {"x": [{"kind": "ok", "output": 1, "delay_ms": 60_000}, *ok("second")]}
        ran = self._run(journal, Control.RETRY, AgentStarted, agents)
        assert ran.done.value == "second"

    @pytest.mark.parametrize(
        "script",
        [
            "await parallel([lambda: agent('x')] * 3)",
            "await pipeline([1, 2], lambda p: agent('x'))",
            "try:\n    await agent('x')\nexcept Exception:\n    pass",
        ],
    )
    def test_a_run_that_is_killed_is_killed_everywhere(self, script: str, journal: Path) -> None:
        agents = {"x": [{"abort_run": True}], **SAME}
        ran = run_script(journal, f"{script}\nreturn await agent('b')", agents)
        assert ran.done.status == "killed"
        assert "b" not in ran.agents.calls


def test_the_default_policy_takes_what_is_recorded() -> None:
    assert policy_from({}) == Policy()

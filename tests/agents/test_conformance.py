"""What holds for every agent that can report: the adapters' conformance suite."""

import json
import socket
import time
from contextlib import suppress
from pathlib import Path
from threading import Thread

import pytest

from agents.conftest import AgentAtWork, agent_named
from bwrap import bwrap_problem, needs_bwrap
from integration.escapes.world import landlock_version, without_bwrap
from sandbox import Sandbox
from siding.record.tasks.names import name_after_command


def judge(task: Sandbox, rules: str = "") -> None:
    """Switch a policy on."""
    (task.repo / ".siding").mkdir(exist_ok=True)
    (task.repo / ".siding" / "policy.yaml").write_text(f"version: 1\n{rules}")


def bytes_below(directory: Path) -> dict[str, bytes]:
    files = (path for path in directory.rglob("*") if path.is_file())
    return {str(path.relative_to(directory)): path.read_bytes() for path in files}


SLOW_S = 6.0  # for the minute that a person may need


class StandIn:
    """A broker in the place of the run's: it says nonsense, the first time after a while."""

    def __init__(self, path: Path, first_s: float) -> None:
        self.asked = 0
        self._wait_s = first_s
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(path))
        self._socket.listen()
        Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                peer, _address = self._socket.accept()
                with peer, peer.makefile("rb") as lines:
                    lines.readline()
                    self.asked += 1
                    time.sleep(self._wait_s)
                    self._wait_s = 0.0
                    peer.sendall(b'{"ok": true, "result": {"output": 0, "status": 0}}\n')

    def close(self) -> None:
        self._socket.close()


class TestTurns:
    def test_a_prompt_is_a_step_named_by_it(self, agent: AgentAtWork) -> None:
        agent.says(["I will.", agent.shell("echo one >1.txt")], ["Done."])
        agent.prompt("Write one\nplease")
        (turn,) = agent.turns
        assert (turn["message"], turn["prompt"]) == ("Write one", "Write one\nplease")
        assert (turn["moment"], turn["diff_stat"]["file_list"]) == ("stopped", ["1.txt"])
        said = agent.run["reported"]
        assert (said["prompts"], said["session"]) == (1, turn["session"])
        assert agent.run["session_id"] == turn["session_id"] == turn["session"]
        assert Path(said["transcript"]).is_file() == agent.has_transcript

    def test_what_each_tool_changed_can_be_a_step_within_the_turn(self, agent: AgentAtWork) -> None:
        (agent.task.project / "config.yaml").write_text("version: 1\nagents: {steps: call}\n")
        agent.says(
            [agent.shell("echo one >1.txt")],
            [agent.shell("true")],
            [agent.shell("echo two >2.txt")],
            ["Done."],
        )
        agent.prompt("Write both")
        assert [(turn["message"], turn["moment"]) for turn in agent.turns] == [
            ("echo one >1.txt", "call"),
            ("echo two >2.txt", "call"),
            ("Write both", "stopped"),
        ]
        changed = [turn["diff_stat"]["file_list"] for turn in agent.turns]
        assert changed == [["1.txt"], ["2.txt"], []]
        if agent.has_transcript:
            self.each_leads_to_its_call(agent)
        agent.task.siding("undo")
        assert not (agent.task.workspace() / "1.txt").exists()

    def each_leads_to_its_call(self, agent: AgentAtWork) -> None:
        """From the conversation to the step behind each call, and from the step to the call."""
        first, second, turn = agent.turns
        of_call = ", this call" if agent.names_calls else ""
        shown = agent.task.siding("session", "show", turn["session"]).stdout.decode()
        marks = [
            "echo one >1.txt",
            f"→ step {first['step_id']} of task talked{of_call}: 1 file +1 -0",
            "echo two >2.txt",
            f"→ step {second['step_id']} of task talked{of_call}: 1 file +1 -0",
            "Done.",
            f"→ step {turn['step_id']} of task talked: no file changed",
        ]
        places = [shown.find(mark) for mark in marks]
        assert -1 not in places, shown
        assert places == sorted(places), shown
        told = agent.task.siding("show", second["step_id"]).stdout.decode()
        (line,) = (each for each in told.splitlines() if "siding session show" in each)
        words = line[line.index("session show") :].split()
        part = agent.task.siding(*words).stdout.decode()
        assert "echo two" in part
        assert "echo one" not in part

    def test_a_commit_is_told_by_what_was_asked(self, agent: AgentAtWork) -> None:
        """And never by a command line, although the task is named after one."""
        agent.says([agent.shell("echo one >1.txt")], ["Done."])
        named = name_after_command(agent.words("Write one"))
        agent.task.siding("task", "start", named)
        agent.prompt("Write one")
        agent.task.siding("apply")
        assert agent.task.git("log", "-1", "--format=%s") == "Write one"

    def test_the_model_is_told_what_it_may_ask(self, agent: AgentAtWork) -> None:
        model = agent.says(["Hello."])
        agent.prompt("Hello")
        assert "siding decide" in json.dumps(model.requests[0])

    @pytest.mark.parametrize("engine", [pytest.param("bwrap", marks=needs_bwrap), "landlock"])
    def test_in_a_sandbox(self, agent: AgentAtWork, engine: str) -> None:
        if engine == "landlock":
            if landlock_version() == 0:
                pytest.skip("this kernel has no Landlock")
            agent.task.env.update(without_bwrap(agent.task.directory, agent.task.env["PATH"]))
        judge(agent.task)
        agent.says([agent.shell("echo one >1.txt")], [agent.shell("rm -rf /")], ["Refused."])
        agent.prompt("Do both", options=["--sandbox"])
        (turn,) = agent.turns
        assert turn["diff_stat"]["file_list"] == ["1.txt"]
        assert agent.run["sandbox"]["engine"] == engine
        assert (agent.run["reported"]["judged"], agent.run["reported"]["blocked"]) == (2, 1)

    def test_without_reports_it_is_as_it_was(self, agent: AgentAtWork) -> None:
        agent.says([agent.shell("echo one >1.txt")], ["Done."])
        agent.prompt("Do it", options=["--no-reports"])
        assert agent.turns == []
        assert agent.run["diff_stat"]["file_list"] == ["1.txt"]
        assert "reported" not in agent.run

    def test_the_home_is_as_without_siding(self, agent: AgentAtWork) -> None:
        """Only what the agent itself writes is there; none of it names Siding's hooks."""
        agent.says(["Hello."])
        before = bytes_below(Path(agent.task.env["HOME"]))  # the person's settings
        agent.prompt("Hello")
        found = bytes_below(Path(agent.task.env["HOME"]))
        assert found
        assert before.items() <= found.items()
        for name, data in found.items():
            assert b"hook.py" not in data or name.endswith(".jsonl"), name


class TestVerdicts:
    def test_a_blocked_command_does_not_run_and_the_model_is_told(self, agent: AgentAtWork) -> None:
        judge(agent.task)
        canary = agent.task.workspace() / "hello.txt"
        model = agent.says([agent.shell(f"rm -rf {canary.parent}")], ["I could not."])
        agent.prompt("Remove it")
        assert canary.exists()
        told = json.dumps(model.requests[-1])
        assert "Siding's policy blocks this" in told

    def test_a_tool_that_writes_is_judged_as_a_command_that_does(self, agent: AgentAtWork) -> None:
        judge(agent.task, 'rules: [{name: locks, action: block, pattern: "[.]lock$"}]\n')
        fine, blocked = (agent.task.workspace() / name for name in ("new.txt", "uv.lock"))
        model = agent.says([agent.writes(fine)], [agent.writes(blocked)], ["I could not."])
        agent.prompt("Write them")
        assert fine.read_text() == "written\n"
        assert not blocked.exists()
        assert "Siding's policy blocks this" in json.dumps(model.requests[-1])
        said = agent.run["reported"]
        assert (said["judged"], said["blocked"]) == (2, 1)

    @pytest.mark.parametrize(("answer", "runs"), [("run", True), ("refuse", False)])
    def test_a_person_is_asked(self, agent: AgentAtWork, answer: str, runs: bool) -> None:
        judge(agent.task)
        pushed = "git push --force . HEAD:refs/heads/pushed"
        agent.says([agent.shell(pushed)], ["Done."])
        at_work = Thread(target=agent.prompt, args=("Push it",))
        at_work.start()
        session = ""
        while not session:
            waiting = agent.task.json("decide", "list", "--json")
            session = waiting[0]["session_id"] if waiting else ""
        assert pushed in agent.task.siding("decide", "show", session).stdout.decode()
        agent.task.siding("decide", "answer", session, "-c", f"1={answer}")
        at_work.join(60)
        branches = agent.task.git("branch", "--list", "pushed")
        assert bool(branches) == runs
        said = agent.run["reported"]
        assert (said["judged"], said["asked"], said["blocked"]) == (1, 1, int(not runs))

    @pytest.mark.parametrize("broker", ["dead", "slow", "lying"])
    def test_under_require_nothing_runs_without_a_verdict(
        self, agent: AgentAtWork, broker: str
    ) -> None:
        judge(agent.task)
        up, canary = (agent.task.workspace() / f"{name}.txt" for name in ("up", "canary"))
        model = agent.says(
            [agent.shell("echo up >up.txt; sleep 2")],
            [agent.shell("echo one >canary.txt")],
            ["I could not."],
        )
        at_work = Thread(
            target=agent.prompt, args=("Do it",), kwargs={"options": ["--judge", "require"]}
        )
        at_work.start()
        while not up.exists():
            time.sleep(0.01)
        (record,) = agent.task.project.glob("tasks/*/runs/r*.json")
        path = Path(json.loads(record.read_text())["broker"])
        path.unlink()
        if broker != "dead":
            stand_in = StandIn(path, SLOW_S if broker == "slow" else 0.0)
        at_work.join(60)
        assert not canary.exists()
        assert "Siding did not answer" in json.dumps(model.requests[-1])
        if broker != "dead":
            assert stand_in.asked
            stand_in.close()


class TestTools:
    def test_it_asks_a_person_and_is_answered(self, agent: AgentAtWork) -> None:
        model = agent.says(
            # Codex does not wait for the servers of its tools.
            [agent.shell("sleep 5" if agent.name == "codex" else "true")],
            [agent.tool("ask_person", question="Which colour?", options=["crimson", "azure"])],
            [agent.tool("checkpoint", message="half of it")],
            ["Azure it is."],
        )
        # opencode alone takes most of a minute to begin there on a busy machine.
        is_slow = agent.name == "opencode"
        sandboxed = [] if is_slow or bwrap_problem() else ["--sandbox"]
        at_work = Thread(target=agent.prompt, args=("Choose",), kwargs={"options": sandboxed})
        at_work.start()
        session = ""
        while not session:
            waiting = agent.task.json("decide", "list", "--json")
            session = waiting[0]["session_id"] if waiting else ""
        agent.task.siding("decide", "answer", session, "-c", "1=azure")
        at_work.join(60)
        answered, marked = json.dumps(model.requests[2]), json.dumps(model.requests[3])
        assert answered.count("azure") > answered.count("crimson")  # each is an option
        assert "recorded as step" in marked
        assert "half of it" in [step.get("message") for step in agent.task.steps()]

    @needs_bwrap
    @pytest.mark.timeout(600)
    def test_opencode_asks_in_a_sandbox(self, sandbox: Sandbox) -> None:
        """It takes most of a minute to begin there on a busy machine: its patience is its own."""
        with agent_named(sandbox, "opencode") as agent:
            model = agent.says(
                [agent.tool("ask_person", question="Which colour?", options=["crimson", "azure"])],
                ["Azure it is."],
            )
            words = ["run", "--sandbox", "--", *agent.words("Choose")]
            at_work = Thread(target=agent.task.siding, args=words, kwargs={"timeout": 400})
            at_work.start()
            session = ""
            while not session and at_work.is_alive():
                waiting = agent.task.json("decide", "list", "--json")
                session = waiting[0]["session_id"] if waiting else ""
                time.sleep(0.2)
            agent.task.siding("decide", "answer", session, "-c", "1=azure")
            at_work.join(200)
            answered = json.dumps(model.requests[1])
            assert answered.count("azure") > answered.count("crimson")
            assert [turn["message"] for turn in agent.turns] == ["Choose"]

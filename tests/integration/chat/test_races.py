"""Two things at once, and things done twice, too late or with nothing there."""

import json
import os
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

from integration.chat.talks import Conversation
from sandbox import SIDING, alive


def test_two_prompts_at_once_start_one_host(talk: Conversation) -> None:
    talk.begin("say zero")
    talk.turns(1)
    talk.end()
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda n: talk.says("send", f"say {n}"), ("one", "two", "three", "four")))
    talk.turns(5)
    assert sorted(talk.text().split()) == ["four", "one", "three", "two", "zero"]
    assert len(talk.events("hosted")) == 2
    assert [each["prompt"] for each in talk.events("queued")] == [
        each["prompt"] for each in talk.events("prompt-taken")
    ]
    talk.end()


def test_a_prompt_that_comes_while_its_agent_ends_is_not_forgotten(talk: Conversation) -> None:
    talk.begin("say 0")
    talk.turns(1)
    ends = [*SIDING, "chat", "end"]
    for number in range(1, 4):
        # The prompt comes at another moment of the end each time.
        ending = subprocess.Popen(ends, cwd=talk.sandbox.repo, env=talk.sandbox.env)
        time.sleep(0.15 * number)
        talk.says("send", f"say {number}")
        ending.wait(60)
        talk.until_text(f"{number}\n")
    assert [each["event"] for each in talk.story].count("unsure") == 0
    talk.end()
    assert talk.text() == "0\n1\n2\n3\n"


def test_stopped_twice_with_nothing_running_and_steered_too_late(talk: Conversation) -> None:
    talk.begin(talk.busy)
    talk.until_text("at work")
    talk.says("send", "say dropped")
    talk.says("stop")
    talk.says("stop")
    talk.turns(1)
    assert talk.events("turn-ended")[-1]["how"] == "stopped"
    talk.says("stop")
    talk.says("steer", "say late")
    talk.until_text("late")
    assert "dropped" not in talk.text()
    talk.end()
    assert "nobody holds" in talk.says("stop", status=2)
    talk.says("steer", "say again")
    talk.until_text("again")
    talk.end()


def test_an_answer_to_what_was_withdrawn_reaches_nobody(talk: Conversation) -> None:
    made = talk.sandbox.directory / "made"
    talk.begin(f"run touch {made}")
    talk.until(lambda: talk.events("put"))
    decision = talk.events("put")[0]["decision"]
    talk.says("stop")
    talk.turns(1)
    refused = talk.sandbox.siding("decide", "answer", decision, "--choose", "1=run", status=None)
    assert refused.returncode != 0
    talk.says("send", "say on")
    talk.until_text("on")
    assert talk.events("answered") == []
    assert not made.exists()
    talk.end()


def test_an_agent_that_does_not_react_is_ended_with_all_it_started(talk: Conversation) -> None:
    mark = talk.sandbox.directory / "pid"
    # A process of the turn in a session of its own, which would outlive its agent.
    talk.begin(f"run setsid sh -c 'echo $$ >{mark}; exec sleep 600' & sleep 0.1\n{talk.busy}")
    talk.until(lambda: talk.events("put"))
    decision = talk.events("put")[0]["decision"]
    talk.sandbox.siding("decide", "answer", decision, "--choose", "1=run")
    talk.until(lambda: mark.exists() and mark.read_text().strip())
    (run,) = talk.sandbox.project.glob("tasks/*/runs/r1.json")
    agent = json.loads(run.read_text())["command"]["pid"]
    os.kill(agent, signal.SIGSTOP)
    talk.says("stop")
    talk.says("end", "--now")
    talk.until(lambda: talk.row["state"] == "ended")
    assert not alive(agent)
    assert not alive(int(mark.read_text()))
    talk.says("send", "say back")
    talk.until_text("back")
    talk.end()

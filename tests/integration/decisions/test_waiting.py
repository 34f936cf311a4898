"""Callers that wait, people who answer: real processes, many at once, some of them killed."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

from sandbox import SIDING, Sandbox
from unit.asking.decisions.seed_reader import SeedReader


def question(title: str) -> str:
    options = [{"value": str(each), "label": str(each)} for each in range(10)]
    item = {"id": 1, "title": title, "options": options}
    return json.dumps({"task": "t", "source": "s", "items": [item]})


def waiting(sandbox: Sandbox, title: str, *more: str, **env: str) -> "subprocess.Popen[bytes]":
    """A caller that asks and waits."""
    return subprocess.Popen(
        [*SIDING, "decide", question(title), *more],
        cwd=sandbox.repo,
        env={**sandbox.env, **env},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def opened(sandbox: Sandbox, count: int) -> dict[str, str]:
    """Wait until so many questions are open; return their sessions by title."""
    deadline = time.monotonic() + 60
    found: list[dict[str, Any]] = []
    while time.monotonic() < deadline:
        found = sandbox.json("decide", "list", "--json")
        if len(found) == count:
            return {each["input"]["items"][0]["title"]: each["session_id"] for each in found}
        time.sleep(0.05)
    raise AssertionError(found)


def test_each_caller_gets_its_own_answer(sandbox: Sandbox) -> None:
    sandbox.siding("init")
    callers = {f"q{number}": waiting(sandbox, f"q{number}") for number in range(6)}
    sessions = opened(sandbox, 6)
    newest = SeedReader(sandbox.project / "decisions").session_id()
    assert newest in sessions.values()
    for title, session in sorted(sessions.items(), reverse=True):
        sandbox.siding("decide", "answer", session, "--choose", f"1={title[1:]}")
    for title, caller in callers.items():
        out, err = caller.communicate(timeout=60)
        assert caller.returncode == 0, err
        assert json.loads(out) == {"decisions": [{"id": 1, "chosen": title[1:]}]}


def test_of_many_who_answer_at_once_one_is_first(sandbox: Sandbox) -> None:
    sandbox.siding("init")
    caller = waiting(sandbox, "who?")
    session = opened(sandbox, 1)["who?"]
    people = [
        subprocess.Popen(
            [*SIDING, "decide", "answer", session, "--choose", f"1={number}"],
            cwd=sandbox.repo,
            env=sandbox.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for number in range(8)
    ]
    said = [person.communicate(timeout=60)[1] for person in people]
    first = [number for number, person in enumerate(people) if person.returncode == 0]
    assert len(first) == 1, said
    for number, person in enumerate(people):
        if number not in first:
            assert person.returncode == 1
            assert b"answered already" in said[number]
    out, _ = caller.communicate(timeout=60)
    assert json.loads(out)["decisions"][0]["chosen"] == str(first[0])


def test_a_caller_that_is_killed_finds_its_answer(sandbox: Sandbox) -> None:
    sandbox.siding("init")
    caller = waiting(sandbox, "again?")
    session = opened(sandbox, 1)["again?"]
    caller.kill()
    caller.communicate()
    sandbox.siding("decide", "answer", session, "--choose", "1=7")
    done = sandbox.siding("decide", question("again?"))
    assert json.loads(done.stdout)["decisions"][0]["chosen"] == "7"
    # Now it was handed over: the same words are a new question.
    sandbox.siding("decide", question("again?"), "--timeout", "0.1", status=1)
    assert opened(sandbox, 1)["again?"] != session


def test_two_callers_of_one_question_get_one_answer(sandbox: Sandbox) -> None:
    sandbox.siding("init")
    callers = [waiting(sandbox, "shared", "--key", "k") for _ in range(3)]
    session = opened(sandbox, 1)["shared"]
    sandbox.siding("decide", "answer", session, "--choose", "1=3")
    answers = [caller.communicate(timeout=60)[0] for caller in callers]
    assert len(set(answers)) == 1
    assert json.loads(answers[0])["decisions"][0]["chosen"] == "3"


def test_one_key_stands_for_one_choice(sandbox: Sandbox) -> None:
    """An agent that asks again finds other words for it; other options are another question."""
    sandbox.siding("init")
    first = sandbox.json("decide", question("Which?"), "--key", "k", "--no-wait", "--json")
    again = sandbox.json("decide", question("Which one?"), "--key", "k", "--no-wait", "--json")
    assert again == first
    other = question("Which?").replace('"value": "9"', '"value": "ten"')
    done = sandbox.siding("decide", other, "--key", "k", "--no-wait", status=1)
    assert b"the key 'k' stands for another question" in done.stderr


def test_inside_a_task_the_newest_is_the_tasks_newest(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", "T")
    inner = f"siding -q decide '{question('mine')}' --no-wait"
    sandbox.siding("run", "--no-tty", "--", "sh", "-c", inner)
    mine = sandbox.json("decide", "list", "--json")[0]["session_id"]
    sandbox.siding("decide", question("other"), "--no-wait")
    sandbox.siding("decide", "answer", mine, "--choose", "1=4")
    done = sandbox.siding("run", "--no-tty", "--", "siding", "decide", "result")
    assert json.loads(done.stdout)["decisions"][0]["chosen"] == "4"
    sandbox.siding("decide", "result", status=1)  # outside, the newest of all is open


def test_who_waits_is_told_of_a_cancelled_question(sandbox: Sandbox) -> None:
    sandbox.siding("init")
    caller = waiting(sandbox, "still?")
    session = opened(sandbox, 1)["still?"]
    sandbox.siding("decide", "cancel", session, "--reason", "found out")
    out, err = caller.communicate(timeout=60)
    assert (caller.returncode, out) == (1, b"")
    assert b"was cancelled: found out" in err


def test_ctrl_c_leaves_the_question_open(sandbox: Sandbox) -> None:
    sandbox.siding("init")
    caller = waiting(sandbox, "wait")
    opened(sandbox, 1)
    assert caller.stderr is not None
    caller.stderr.readline()  # how to answer: from here on Ctrl-C ends the wait alone
    os.kill(caller.pid, signal.SIGINT)
    _, err = caller.communicate(timeout=60)
    assert caller.returncode == 130
    assert b"the question stays open" in err
    assert opened(sandbox, 1)


def test_waiting_costs_next_to_nothing(sandbox: Sandbox) -> None:
    """Processor time, not the clock: two seconds of waiting stay under a fifth of one."""
    sandbox.siding("init")
    caller = waiting(sandbox, "long")
    session = opened(sandbox, 1)["long"]
    time.sleep(0.2)
    before = _processor_s(caller.pid)
    time.sleep(2)
    used = _processor_s(caller.pid) - before
    sandbox.siding("decide", "answer", session, "--choose", "1=1")
    caller.communicate(timeout=60)
    assert used < 0.2, used


def _processor_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_lines_of_a_file_are_shown_only_from_inside_the_project(sandbox: Sandbox) -> None:
    """Links, to a file or on the way, lead nowhere; the person sees why."""
    sandbox.siding("init")
    secret = sandbox.directory / "secret"
    secret.write_text("the secret\n")
    (sandbox.repo / "link").symlink_to(secret)
    (sandbox.repo / "out").symlink_to(sandbox.directory)
    os.mkfifo(sandbox.repo / "pipe")
    (sandbox.repo / "evil\x1b[31m").write_text("red\x1b[2J\u202e\n")
    places = ["link", "out/secret", "pipe", "src", "gone.txt", "evil\x1b[31m"]
    for number, file in enumerate(places):
        where = {"file": file, "start": 1, "end": 1}
        item = {"id": 1, "title": f"t{number}", "kind": "text", "location": where}
        text = json.dumps({"task": "t", "source": "s", "items": [item]})
        session = sandbox.siding("-q", "decide", text, "--no-wait").stdout.decode().strip()
        shown = sandbox.siding("decide", "show", session, timeout=20).stdout.decode()
        assert "the secret" not in shown
        assert "\x1b" not in shown
        assert "\u202e" not in shown
        if file.startswith("evil"):
            assert "\\x1b[2J\\u202e" in shown
        else:
            assert "cannot be shown" in shown or "no such file" in shown


def test_a_path_that_an_agent_gives_whole_is_made_relative(sandbox: Sandbox) -> None:
    sandbox.siding("init")
    where = {"file": str(sandbox.repo / "hello.txt"), "start": 1, "end": 1}
    item = {"id": 1, "title": "t", "kind": "text", "location": where}
    text = json.dumps({"task": "t", "source": "s", "items": [item]})
    asked = sandbox.json("decide", text, "--no-wait", "--json")
    assert asked["input"]["items"][0]["location"]["file"] == "hello.txt"
    assert b"hello" in sandbox.siding("decide", "show").stdout

"""What `siding run` adds to a real agent: to its start and end, to a turn, and to each command.

Needs the agents that `run.py test` installs, and a model server on loopback, which answers at once.
So what is measured is all but the model: an ordinary turn waits for that most of its time.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.bench import Bench, Figure, Goal, Row
from benchmarks.measure import Run, Timing, command, side_by_side

if TYPE_CHECKING:
    from agents.models import ModelServer

ROOT = Path(__file__).parents[1]
INSTALLED = ROOT / ".venv" / "agents" / "node_modules" / ".bin"
COMMANDS = 10  # of a turn with tools
GOAL_MS = 30  # over the agent alone, for each command: a process starts for its verdict
CODEX = """\
model = "a-model"
model_provider = "here"
approval_policy = "never"
sandbox_mode = "danger-full-access"
[model_providers.here]
name = "here"
base_url = "{}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
"""
WORDS = {
    "claude": ["claude", "-p", "Work", "--allowedTools", "Bash"],
    "codex": ["codex", "exec", "--skip-git-repo-check", "Work"],
}


def _measure(bench: Bench) -> Iterator[Row]:
    for name, words in WORDS.items():
        if not (INSTALLED / name).exists():
            bench.say(f"{name} is not installed; `python3 run.py test` does that")
            continue
        for files in bench.sizes(1_000, 20_000, 100_000):
            with bench.task(f"agents-{name}", files) as (workspace, env):
                yield from _rows(bench, name, words, (files, workspace, env))


def _rows(
    bench: Bench, name: str, words: list[str], place: tuple[int, Path, dict[str, str]]
) -> Iterator[Row]:
    files, workspace, env = place
    policy = workspace / ".siding" / "policy.yaml"
    policy.parent.mkdir(exist_ok=True)
    policy.write_text("version: 1\n", encoding="utf-8")
    talk, work = _server(0), _server(COMMANDS)
    try:
        runs: list[Run] = []
        for server, kind in ((talk, "talk"), (work, "work")):
            told = _told(name, env, server, bench.directory / f"{name}-{kind}-{files}")
            ours: Sequence[str | Path] = [bench.siding, "run", "--", *words]
            runs += [
                command(ours, env=told, cwd=workspace),
                command(words, env=told, cwd=workspace),
            ]
        timings = side_by_side(runs, rounds=bench.rounds({1_000: 9, 20_000: 7}.get(files, 5)))
    finally:
        talk.close()
        work.close()
    alone = f"{name} alone"
    ours_talk, bare_talk, ours_work, bare_work = timings
    yield Row("talk", f"a run with a prompt, {files:,} files", files, ours_talk, bare_talk, alone)
    yield Row(
        "work",
        f"and {COMMANDS} commands, {files:,} files",
        files,
        ours_work,
        bare_work,
        alone,
        GOAL_MS * COMMANDS + (ours_talk.median_ms - bare_talk.median_ms),
        Goal.OVER,
        note=f"{_each(timings):.0f} ms for each command, its verdict and its file",
    )


def _each(timings: Sequence[Timing]) -> float:
    """Return what one command adds."""
    ours_talk, bare_talk, ours_work, bare_work = (each.median_ms for each in timings)
    return ((ours_work - ours_talk) - (bare_work - bare_talk)) / COMMANDS


def _server(commands: int) -> "ModelServer":
    """Return a model that has so many commands run after each prompt."""
    sys.path.append(str(ROOT / "tests"))
    from agents.models import Call, ModelServer

    class Model(ModelServer):
        def _next(self, body: dict[str, Any]) -> "Sequence[str | Call]":
            # As many results as there are since the prompt, which is the only one.
            text = json.dumps(body)
            done = text.count('"type": "tool_result"') + text.count('"function_call_output"')
            if done >= commands:
                return ["Done."]
            line = f"echo {done} >made-{done}.txt"
            if "exec_command" in text:
                return [Call("exec_command", {"cmd": line})]
            return [Call("Bash", {"command": line, "description": "as asked"})]

    return Model([])


def _told(name: str, env: dict[str, str], server: "ModelServer", home: Path) -> dict[str, str]:
    """Return the environment in which an agent finds its model; its home is a new one."""
    (home / f".{name}").mkdir(parents=True)
    told = {**env, "HOME": str(home), "PATH": f"{INSTALLED}:{env['PATH']}"}
    if name == "codex":
        (home / ".codex" / "config.toml").write_text(CODEX.format(server.url), encoding="utf-8")
        return {**told, "OPENAI_API_KEY": "sk-of-a-benchmark"}
    return {
        **told,
        "ANTHROPIC_BASE_URL": server.url,
        "ANTHROPIC_API_KEY": "sk-ant-of-a-benchmark",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }


FIGURE = Figure(
    title="a real agent",
    goal=f"at most {GOAL_MS} ms over the agent alone for each command of its shell",
    floor="the same agent, the same answers, without Siding",
    follows="files looked at: a snapshot before and after the run, and at each end of a turn",
    measure=_measure,
)

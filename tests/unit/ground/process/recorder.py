"""A recorder as a program: runs what its argument says and writes the outcome as JSON."""

import json
import sys
from pathlib import Path

from siding.ground.process.command import Command, OutputScreen, StdinPlan, StreamPlan
from siding.ground.process.output.recording import OutputFiles
from siding.ground.process.record import run_recorded
from siding.ground.process.side import Plan


def main() -> None:
    spec = json.loads(sys.argv[1])
    plan = Plan(
        Command(argv=tuple(spec["argv"]), cwd=Path(spec["cwd"]), env=spec["env"]),
        recorder=OutputFiles(Path(spec["path"]), streams=StreamPlan(spec.get("streams", "piped"))),
        screen=OutputScreen(),
        stdin=StdinPlan(spec.get("stdin", "null")),
        timeout_s=spec.get("timeout_s"),
        token=spec["token"],
        grace_s=spec.get("grace_s", 2.0),
    )
    outcome = run_recorded(plan)
    Path(spec["outcome"]).write_text(json.dumps(outcome._asdict()), encoding="utf-8")


if __name__ == "__main__":
    main()

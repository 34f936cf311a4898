"""The output of a run, where its step is recorded. Loaded for runs only."""

from siding.ground.process.output.files import rename_output, settle_output
from siding.ground.storage.layout import TaskLayout
from siding.record.ledger.intents import Intent
from siding.record.ledger.step import Step


def name_output(layout: TaskLayout, intent: Intent, number: int) -> str:
    """Give the output of a run the number of its step; return its name, "" if there is none."""
    run = intent.draft.as_run
    assert run is not None
    counted = run.output.stdout_bytes if run.output else None
    own, named = layout.artifact(intent.stem, "output"), layout.artifact(number, "output")
    return named.name if rename_output(own, named, counted) else ""


def join_streams(layout: TaskLayout, step: Step) -> None:
    """Bring the output of a run into its final form, if there was no room for that before."""
    run = step.as_run
    told = run.output if run else None
    if told is None or told.stdout_bytes is None:
        return
    output = layout.artifact(step.number, "output")
    if not settle_output(output, told.stdout_bytes):
        from siding.ground.process.output.reading import recover_output

        recover_output(output)
        settle_output(output, told.stdout_bytes)

"""The calls in a transcript of Parrot: ``"used": [input, output]`` of an answer."""

from siding.agents.transcripts.counting import UNKNOWN_MODEL, Call, Counted, Counting, Tokens
from siding.agents.transcripts.foreign import record_of
from siding.agents.transcripts.kinds import moment


def _take(counted: Counted, raw: bytes) -> None:
    record = record_of(raw)
    if record.get("parrot") == "person":
        counted.turn += 1
    match record.get("used"):
        case [int(sent), int(output)]:
            counted.add(
                Call(
                    key=str(record.get("id") or ""),
                    at=moment(record.get("at")) or 0,
                    model=str(record.get("model") or UNKNOWN_MODEL),
                    provider="parrot",
                    cwd=counted.cwd,
                    turn=counted.turn,
                    tokens=Tokens(input=sent, output=output, calls=1),
                )
            )


COUNTING = Counting(take=_take)

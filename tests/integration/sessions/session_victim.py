"""One act on a session as a process of its own: the victim of test_faults.

    session_victim.py ACT ARGUMENT...      in the case directory

Prints a promise when an act returned, and ends with 1 and a message when it raised what callers are
told to expect.
"""

import os
import sys
import time
from collections.abc import Callable
from contextlib import closing
from itertools import count
from pathlib import Path

from siding.agents.transcripts.branches import branch_session, rewind_session
from siding.agents.transcripts.compaction import Keep, Making, partial
from siding.agents.transcripts.interchange import bring_in
from siding.agents.transcripts.store import SessionStore
from siding.agents.transcripts.writer import Stamp, Writer
from siding.ground.errors import SidingError
from siding.ground.storage.locks import LockBusy

ROOT = Path("sessions")
SESSION = "s1"
PATIENCE_S = 20.0
STORE = SessionStore(ROOT)
_TICKS = count()


def now() -> str:
    from datetime import UTC, datetime

    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def new_id() -> str:
    return f"{os.getpid()}-{next(_TICKS)}-{os.urandom(3).hex()}"


def writer(session: str = SESSION, *, background: bool = False) -> Writer:
    """Open the session. A writer beside that holds it may be frozen, so this waits for it."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            return STORE.writer(
                session,
                stamp=Stamp(cwd="/w", version="0.0.0"),
                now=now,
                new_id=new_id,
                background=background,
            )
        except LockBusy:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.005)


def say(name: str) -> str:
    """A prompt and its answer, in two appends, the title set before."""
    with closing(writer()) as session:
        session.set({"type": "custom-title", "customTitle": f"about {name}"})
        _say(session, name)
    return name


def say_behind(name: str) -> str:
    """The same through the queue."""
    with closing(writer(background=True)) as session:
        _say(session, name)
        session.flush()
    return name


def _say(session: Writer, name: str) -> None:
    prompt = {"role": "user", "content": f"prompt {name}"}
    session.append([{"type": "user", "uuid": f"p-{name}", "message": prompt}])
    blocks = [{"type": "text", "text": f"answer {name} " + "x" * 500}]
    answer = {"id": f"m-{name}", "role": "assistant", "content": blocks}
    session.append([{"type": "assistant", "uuid": f"a-{name}", "message": answer}])


def compact(name: str) -> str:
    with closing(writer()) as session, STORE.live(SESSION) as transcript:
        chain = list(transcript.records(transcript.chain()))
        spoken = [each for each in chain if each["type"] == "user"]
        making = Making(new_id=new_id, now=now())
        at = str(spoken[-1]["uuid"])
        session.append(partial(chain, at, f"summary {name}", making, keep=Keep.TAIL), durable=True)
        session.repeat_metadata()
    return name


def rewind(name: str) -> str:
    with closing(writer()) as session, STORE.live(SESSION) as transcript:
        target = transcript.chain()[0].uuid
        rewind_session(session, transcript, target, now=now(), uuid=f"r-{name}")
    return f"r-{name}"


def branch(name: str) -> str:
    branch_session(STORE, SESSION, name)
    return name


def arrive(name: str) -> str:
    return bring_in(STORE, Path(name)).session_id


ACTS: dict[str, Callable[[str], str]] = {
    function.__name__: function for function in (say, say_behind, compact, rewind, branch, arrive)
}


def main(act: str, arguments: list[str]) -> int:
    try:
        for argument in arguments:
            print(ACTS[act](argument), flush=True)
    except (OSError, SidingError) as error:
        print(f"session: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))

"""Kill the host, the agent or a viewer of a conversation at drawn moments, and say what was seen.

cd tests; python -m faults.chat --client claude --moments 200 [--seed 1] [--keep DIRECTORY]
cd tests; python -m faults.chat --client claude --moment 37
"""

import argparse
import signal
import sys
from pathlib import Path

from faults.chat.runs import CLIENTS, tried


def main() -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # what was started is ended
    parser = argparse.ArgumentParser(prog="faults.chat")
    parser.add_argument("--client", choices=[*CLIENTS], required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--moments", type=int, default=200, help="how many are tried")
    parser.add_argument("--first", type=int, default=0, help="the number of the first one")
    parser.add_argument("--moment", type=int, help="only this one")
    parser.add_argument("--keep", type=Path, help="where stories of moments that failed are put")
    given = parser.parse_args()
    numbers = range(given.first, given.first + given.moments)
    if given.moment is not None:
        numbers = range(given.moment, given.moment + 1)

    def say(words: str) -> None:
        print(words, flush=True)

    figures = tried(given.client, numbers, seed=given.seed, say=say, keep=given.keep)
    for failed in figures.failed:
        say(f"failed: --client {given.client} --seed {given.seed} --moment {failed.number}")
    say(f"{given.client}, seed {given.seed}: {figures}")
    return 1 if figures.failed else 0


if __name__ == "__main__":
    raise SystemExit(main())

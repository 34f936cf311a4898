"""The heavy proofs of Siding's promises: each row tries many cases, and is repeated by its seed.

Without --seed the rows that draw their cases take a fresh one, which the table shows. The exit
status is 0 if every row tried a case and every case passed.
"""

import json
import random
import sys
import time
from argparse import ArgumentParser, ArgumentTypeError, RawDescriptionHelpFormatter
from pathlib import Path

from prove import compared, suite, table
from prove.row import Outcome
from prove.rows import ON_REQUEST, ROWS

NAMES = (*ROWS, compared.NAME)
ALL = "all"


def main(words: list[str]) -> int:
    """Run the rows that are asked for and print the table."""
    asked = _parser().parse_args(words)
    seed = random.SystemRandom().randrange(1 << 31) if asked.seed is None else asked.seed
    begun = time.monotonic()
    print(table.heading(), flush=True)
    outcomes: dict[str, Outcome] = {}
    for name in asked.only or _usual(also=asked.also, without=asked.without):
        outcomes[name] = _run(name, seed, every=asked.every, part=asked.part or "")
        print(table.line(name, outcomes[name], _seed_of(name, seed)), flush=True)
    print(table.ending(outcomes, time.monotonic() - begun), flush=True)
    if asked.json:
        told = {name: outcome._asdict() for name, outcome in outcomes.items()}
        text = json.dumps({"seed": seed, "rows": told}, indent=1)
        Path(asked.json).write_text(text + "\n", encoding="utf-8")
    return 0 if all(outcome.holds for outcome in outcomes.values()) else 1


def _usual(*, also: list[str], without: list[str]) -> list[str]:
    """Return the rows of a table that names none, in their order."""
    return [
        name
        for name in NAMES
        if name not in without and (name not in ON_REQUEST or name in also or ALL in also)
    ]


def _run(name: str, seed: int, *, every: bool, part: str) -> Outcome:
    if name == compared.NAME:
        return compared.run(seed)
    return suite.run(ROWS[name], seed, every=every, part=part)


def _which_part(text: str) -> str:
    """Return which part is meant, such as ``2/3``."""
    number, _, count = text.partition("/")
    digits = number.isascii() and number.isdigit() and count.isascii() and count.isdigit()
    if not digits or not 1 <= int(number) <= int(count):
        raise ArgumentTypeError("a part is K/N, such as 2/3 for the second of three")
    return f"{number}/{count}"


def _seed_of(name: str, seed: int) -> int | None:
    return seed if name == compared.NAME or ROWS[name].draws else None


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="python3 run.py prove",
        description=__doc__,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--only", action="append", choices=NAMES, metavar="ROW", help=f"one of {', '.join(NAMES)}"
    )
    parser.add_argument(
        "--without", action="append", default=[], choices=NAMES, metavar="ROW", help="all but this"
    )
    parser.add_argument(
        "--also",
        action="append",
        default=[],
        choices=(*ON_REQUEST, ALL),
        metavar="ROW",
        help=f"a row that is tried on request only: {', '.join(ON_REQUEST)}; or {ALL} of them",
    )
    parser.add_argument("--seed", type=int, help="the number that a table shows, to repeat a row")
    parser.add_argument(
        "--every",
        action="store_true",
        help="let the gates strike every call, not a sample: hours for a row",
    )
    parser.add_argument(
        "--part",
        type=_which_part,
        metavar="K/N",
        help="of the row `rest` only this part of its tests: 2/3 is the second of three",
    )
    parser.add_argument("--json", metavar="FILE", help="write the table into FILE as well")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

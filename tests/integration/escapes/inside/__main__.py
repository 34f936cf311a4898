"""Runs inside a sandbox and tries to get out. Prints JSON: attempt -> what came of it.

A plain program for any Python: it imports nothing of ours. An attempt is a public function of a
module that `FAMILIES` names; it returns True when it got through.
"""

# mypy: ignore-errors
import errno
import importlib
import json
import os
import signal
import sys


def attempts(family):
    """Return the attempts of a family by their names, in the order of the source."""
    module = importlib.import_module(family)
    return {
        name: value
        for name, value in vars(module).items()
        if callable(value)
        and not name.startswith("_")
        and getattr(value, "__module__", "") == family
    }


def _too_long(*_told):
    raise RuntimeError("it takes too long")


def what_came_of(attempt):
    signal.alarm(60)
    try:
        return "through" if attempt() else "refused"
    except OSError as error:
        return "refused: " + errno.errorcode.get(error.errno or 0, str(error))
    except Exception as error:  # noqa: BLE001 - it is told
        return f"broken: {error!r}"
    finally:
        signal.alarm(0)


def main():
    signal.signal(signal.SIGALRM, _too_long)
    only = os.environ.get("ONLY")
    told = {}
    for family in os.environ["FAMILIES"].split(","):
        for name, attempt in attempts(family).items():
            if not only or name in only.split(","):
                told[name] = what_came_of(attempt)
    print(json.dumps(told))


if __name__ == "__main__":
    sys.exit(main())

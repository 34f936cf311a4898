"""One handler for everything that can go wrong in a command."""

import errno
import os
import signal
import sys
from collections.abc import Callable

from siding import __version__
from siding.ground.errors import SidingError

BUG = 70  # EX_SOFTWARE
INTERRUPTED = 130
READER_GONE = 141


def guarded(action: Callable[[], int]) -> int:
    """Return what `action` returns, or the exit status of how it failed.

    An expected failure is two lines on stderr. A bug writes a report to a file and names it.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        status = action()
        sys.stdout.flush()
        return status
    except SystemExit as leaving:  # argparse: 0 after --help, 2 after a usage error
        return leaving.code if isinstance(leaving.code, int) else 1
    except SidingError as error:
        complain(error.message, error.hint)
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _drop_stdout()
        return READER_GONE
    except OSError as error:
        complain(_operating_failure(error), _what_to_do(error))
        return 1
    except Exception as error:  # noqa: BLE001 - the edge: a bug becomes a report, not a traceback
        return _report_bug(error)


def complain(message: str, hint: str | None = None) -> None:
    """Write an error and its hint to stderr. A stderr that is closed is no failure of its own."""
    from siding.faces.cli.screen.screen import inert

    text = f"siding: error: {inert(message)}\n" + (f"  hint: {inert(hint)}\n" if hint else "")
    try:
        sys.stdout.flush()  # results that came before the error appear before it
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        pass  # stderr is closed: there is nowhere to write to


def _operating_failure(error: OSError) -> str:
    reason = error.strerror or str(error)
    where = f": {str(error.filename)!r}" if error.filename else ""
    return f"{reason}{where}"


def _what_to_do(error: OSError) -> str | None:
    return {
        errno.ENOSPC: "the disk is full; nothing old was lost. Make room and run it again; "
        "`siding gc` frees what closed tasks hold",
        errno.EDQUOT: "your quota is used up; nothing old was lost. Make room and run it again",
        errno.EROFS: "the file system is read-only; what only looks still works: status, log, "
        "show, diff, and --dry-run of rollback and apply",
        errno.EIO: "the disk answers with an error (the system's log says more). Copy what you "
        "need to another one; on a disk that works, `siding doctor` and `siding verify` tell what "
        "is there",
        errno.EACCES: "check who owns the file; Siding needs to read and write its home",
        errno.EMFILE: "too many open files; raise `ulimit -n`",
    }.get(error.errno or 0)


def _drop_stdout() -> None:
    """Keep the interpreter from complaining about the dead pipe at exit."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)


def _report_bug(error: Exception) -> int:
    import tempfile
    import traceback

    report = "".join(traceback.format_exception(error))
    text = f"siding {__version__}, python {sys.version}\ncommand: {sys.argv!r}\n\n{report}"
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="siding-bug-", suffix=".log", delete=False, encoding="utf-8"
        ) as log:
            log.write(text)
        complain(f"this is a bug in Siding: {error!r}", f"please report it with {log.name}")
    except OSError:
        sys.stderr.write(text)
    return BUG

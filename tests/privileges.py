"""Commands and calls that are bound by permissions as a person's are, also where the tests run as
root."""

import ctypes
import os
import pickle
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import pytest

from sandbox import SIDING, Sandbox
from siding.ground.process.capture import run_captured

T = TypeVar("T")

# From linux/capability.h and linux/prctl.h.
_DAC_OVERRIDE, _DAC_READ_SEARCH, _FOWNER, _FSETID = 1, 2, 3, 4
_CAPABILITY_VERSION_3 = 0x20080522
_PR_CAPBSET_DROP = 24


def without_privileges() -> Sequence[str]:
    """Return what a command is put behind so that permissions bind it."""
    if os.geteuid() != 0:
        return ()
    limited = ("setpriv", "--bounding-set=-dac_override,-dac_read_search,-fowner,-fsetid")
    try:
        works = run_captured(["/usr/bin/env", *limited, "true"], env=os.environ).returncode == 0
    except OSError:
        works = False
    if not works:
        pytest.skip("root is bound by no permission here, and setpriv cannot change that")
    return limited


def behind(
    sandbox: Sandbox,
    prefix: Sequence[str],
    *arguments: str,
    status: int | None = 0,
    env: Mapping[str, str] | None = None,
) -> str:
    """Run Siding behind a prefix; return what it said."""
    done = run_captured(
        ["/usr/bin/env", "-C", str(sandbox.repo), *prefix, *SIDING, *arguments],
        env={**sandbox.env, **(env or {})},
    )
    said = (done.stdout + done.stderr).decode()
    assert status is None or done.returncode == status, (arguments, said)
    return said


def bound_by_permissions(act: Callable[[], T]) -> T:
    """Return what `act` returns; as root, call it in a fork without the right to pass permissions.

    What it returns is pickled on its way back; what it raises fails the test.
    """
    if os.geteuid() != 0:
        return act()
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        _become_bound(act, writing)
    os.close(writing)
    with open(reading, "rb") as pipe:
        told = pipe.read()
    os.waitpid(pid, 0)
    if not told:
        pytest.skip("root is bound by no permission here, and that cannot be changed")
    error, result = pickle.loads(told)
    assert not error, error
    return result  # type: ignore[no-any-return]  # as it was pickled


def _become_bound(act: Callable[[], T], writing: int) -> None:
    """Tell the outcome of the act through the pipe, nothing if there is no way to be bound."""
    try:
        if _drop_capabilities():
            with open(writing, "wb") as pipe:
                try:
                    told = pickle.dumps(("", act()))
                except BaseException:  # noqa: BLE001 - the parent raises it again
                    told = pickle.dumps((traceback.format_exc(), None))
                pipe.write(told)
    finally:
        os._exit(0)  # a forked child must never return into pytest


def _drop_capabilities() -> bool:
    """Give up passing permissions, for this process and for what it starts."""
    libc = ctypes.CDLL(None, use_errno=True)
    dropped = 0
    for number in (_DAC_OVERRIDE, _DAC_READ_SEARCH, _FOWNER, _FSETID):
        dropped |= 1 << number
        if libc.prctl(_PR_CAPBSET_DROP, number, 0, 0, 0) != 0:
            return False
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    sets = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; then their upper halves
    if libc.capget(header, sets) != 0:
        return False
    for index in range(3):
        sets[index] &= ~dropped
    return bool(libc.capset(header, sets) == 0)

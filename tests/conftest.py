"""What every test may use. Nothing here touches the machine's own home or configuration."""

import gc
import os
import signal
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings

import counted
import drawn_cases
import forked
import installed
import left_to_prove
import stacks
from sandbox import Sandbox

# A signal that whoever started the tests ignores or blocks (a shell does so for jobs in the
# background) stays so in every child: what is sent to end a command would never arrive.
for _number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP):
    if signal.getsignal(_number) is signal.SIG_IGN:
        _usual = signal.default_int_handler if _number == signal.SIGINT else signal.SIG_DFL
        signal.signal(_number, _usual)
signal.pthread_sigmask(signal.SIG_SETMASK, ())

# No example database: the suite must run on a read-only checkout, and in parallel.
# Nothing about time: what is slow on a busy machine is no defect. The same examples each time, so
# that the same code has the same verdict; SIDING_SEARCH=1 looks for others. A law that does not say
# how many has a quarter in the suite; `run.py prove` tries it once more with all.
settings.register_profile(
    "siding",
    database=None,
    deadline=None,
    max_examples=100 if left_to_prove.ALL else 25,
    derandomize=os.environ.get("SIDING_SEARCH") != "1",
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("siding")

stacks.offer()
gc.disable()  # until all is collected: what is loaded meanwhile stays


def pytest_configure(config: pytest.Config) -> None:
    """Have commands forked by one process for all that run tests: it loads while they collect."""
    if config.getoption("numprocesses", None) and not config.option.collectonly:
        forked.start_for_all()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave to `run.py prove` what it tries and the suite does not."""
    if left_to_prove.ALONE:
        alone = [each for each in items if left_to_prove.is_alone(each.nodeid) or _is_law(each)]
        taken = drawn_cases.part(alone)
    elif left_to_prove.ALL:
        taken = drawn_cases.drawn(items)
    else:
        taken = [each for each in items if not left_to_prove.is_left(each.nodeid)]
    if len(taken) < len(items):
        chosen = set(taken)
        config.hook.pytest_deselected(items=[each for each in items if each not in chosen])
        items[:] = taken


def _is_law(item: pytest.Item) -> bool:
    """Return whether a test has more examples in `run.py prove` than in the suite."""
    return isinstance(item, pytest.Function) and is_hypothesis_test(item.function)


def pytest_collection_finish() -> None:
    """What is there by now stays until the end: no collection has to look at it again."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> None:
    """Say which test runs, to who waits too long for it."""
    stacks.say(item.nodeid)


def pytest_sessionfinish() -> None:
    stacks.say("after the last test")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Report how many cases the test tried."""
    counted.taken()
    try:
        yield
    finally:
        told = counted.taken()._asdict()
        item.user_properties += [(name, count) for name, count in told.items() if count]


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    """A repository with one commit in a home of its own."""
    return Sandbox(tmp_path)


@pytest.fixture(scope="session", autouse=True)
def _one_installation_for_all_workers(tmp_path_factory: pytest.TempPathFactory) -> None:
    directory = tmp_path_factory.getbasetemp()
    shared = "PYTEST_XDIST_WORKER" in os.environ
    installed.install_below(directory.parent if shared else directory)


@pytest.fixture(scope="session", autouse=True)
def _commands_are_forked_by_a_small_process() -> None:
    forked.start()  # before a test makes this process the parent of all orphans


@pytest.fixture(scope="session", autouse=True)
def _no_home_of_the_machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A test that forgets to choose a home must not find the person's own: it finds none."""
    nowhere = tmp_path_factory.getbasetemp() / "no-home-was-chosen"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SIDING_HOME", str(nowhere / "siding"))
        patch.setenv("HOME", str(nowhere))
        yield

"""The mistakes, by name: what each replaces, and with what.

A function here gets what it replaces and returns the replacement. Modules of Siding are imported
inside the functions, because the victim must not load more than it would without the mistake.
"""

import errno
import os
import signal
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, NoReturn

Make = Callable[[Any], Any]


class Replacement(NamedTuple):
    """`make` turns the function or method `name` of `module` into the one that is wrong."""

    module: str
    name: str
    make: Make


def _nothing(_old: Any) -> Any:
    """Do nothing at all."""
    return lambda *_args, **_kwargs: None


def _no_bytes(_old: Any) -> Any:
    return lambda *_args, **_kwargs: b""


def _without_errors(old: Any) -> Any:
    def swallow(*args: Any) -> None:
        try:
            old(*args)
        except OSError:
            pass

    return swallow


def _one_write(_old: Any) -> Any:
    return lambda fd, data: os.write(fd, data) and None


def _rewrite_in_place(_old: Any) -> Any:
    def rewrite(*places: Any, mode: int = 0o600) -> None:
        from siding.ground.files import durable, regular

        *_temporary, path, data = places
        fd = regular.open_regular(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
        try:
            durable.write_all(fd, data)
            durable.flush(fd)
        finally:
            os.close(fd)

    return rewrite


def _but_the_tasks(old: Any) -> Any:
    def lock(it: Any, fd: int, deadline: float | None) -> None:
        if it.path.name != "lock":  # of a task; those of journals and projects have other names
            old(it, fd, deadline)

    return lock


def _put_without_intent(old: Any) -> Any:
    def put(registry: Any, workspace: Any) -> None:
        if workspace.intent is None:
            old(registry, workspace)

    return put


def _by_time(old: Any) -> Any:
    return lambda ledger: iter(sorted(old(ledger), key=lambda step: step.started_at))


def _interrupt_is_an_error(old: Any) -> Any:
    def fall_over(_number: int, _frame: object) -> NoReturn:
        raise RuntimeError("interrupted")

    def open_app(**more: Any) -> Any:
        signal.signal(signal.SIGINT, fall_over)
        return old(**more)

    return open_app


def _overwrite_record(_old: Any) -> Any:
    def create(_store: Any, path: Any, decision: Any) -> None:
        from siding.asking.decisions.record import record_document
        from siding.ground.storage.documents import write_document

        write_document(path, record_document(decision))

    return create


def _question_goes_first(old: Any) -> Any:
    def create(store: Any, path: Any, decision: Any) -> None:
        from siding.ground.files.durable import remove_file

        remove_file(store._open_path(decision.session_id))
        old(store, path, decision)

    return create


def _forget_first(old: Any) -> Any:
    def take_over(project: Any, prepared: Any, workspace: Any) -> Any:
        from siding.record.quarantine.run import forget

        forget(prepared)
        return old(project, prepared, workspace)

    return take_over


def _begin_without_verdict(old: Any) -> Any:
    def begin(recorder: Any, draft: Any, **more: Any) -> Any:
        nothing = {"policy_events": (), "status": "", "exit_code": None, "reason": ""}
        return old(recorder, draft._replace(**nothing), **more)._replace(draft=draft)

    return begin


def _finish_at_once(old: Any) -> Any:
    def begin(store: Any, intent: Any) -> None:
        old(store, intent)
        store.finish(intent)

    return begin


def _at_the_end(_old: Any) -> Any:
    def write(writer: Any, lines: Any, **_more: Any) -> None:
        writer.waiting = [*getattr(writer, "waiting", ()), *lines]

    return write


def _with_what_waits(old: Any) -> Any:
    def close(writer: Any) -> None:
        os.write(writer._fd, b"".join(writer._numbered(getattr(writer, "waiting", ()))))
        old(writer)

    return close


def _state_in_place(_old: Any) -> Any:
    def write(folder: Any, state: Any) -> None:
        from siding.ground.storage.writes import encode_document

        fd = os.open(folder.state_json, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.write(fd, encode_document(state.as_record()))
        os.close(fd)

    return write


def _cannot(_old: Any) -> Any:
    def renameat2(_source: Any, _target: Any, _flags: int) -> None:
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))

    return renameat2


def _fails_at_the_fourth(old: Any, edit: str = "") -> Any:
    calls = []

    def put(*args: Any) -> Any:
        calls.append(args)
        if len(calls) == 4:
            if edit:
                beside = os.path.join(os.environ["TMPDIR"], "edited")
                with open(beside, "w", encoding="utf-8") as file:
                    file.write(edit)
                os.rename(beside, "tool")  # whole, whatever is killed
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return old(*args)

    return put


def _is_edited_before_the_fourth(old: Any) -> Any:
    return _fails_at_the_fourth(old, "edited\n")


_NO_EXCHANGE = Replacement("siding.ground.files.exchange", "_renameat2", _cannot)
_FAILS = Replacement("siding.record.files.restore", "_put", _fails_at_the_fourth)

MISTAKES: Mapping[str, tuple[Replacement, ...]] = {
    # No flush of any file: a power cut loses what was promised.
    "skip-fsync": (Replacement("siding.ground.files.durable", "flush", _nothing),),
    # Files are flushed, names are not.
    "skip-directory-fsync": (Replacement("siding.ground.files.durable", "flush_names", _nothing),),
    # Documents, and files of git directories, are rewritten in place: a kill leaves half of one.
    "truncate-rewrite": (
        Replacement("siding.ground.files.durable", "replace_bytes", _rewrite_in_place),
        Replacement("siding.ground.files.durable", "write_and_rename", _rewrite_in_place),
    ),
    # A torn last line is not closed: it swallows the next record.
    "skip-newline": (Replacement("siding.ground.storage.writes", "_missing_newline", _no_bytes),),
    # Locks are not taken: writers run into each other.
    "skip-lock": (
        Replacement("siding.ground.storage.locks", "FileLock._lock", _nothing),
        Replacement("siding.ground.storage.locks", "FileLock.is_locked", _nothing),
    ),
    # Only the lock of a task is not taken: two commands work in it at once.
    "skip-task-lock": (
        Replacement("siding.ground.storage.locks", "FileLock._lock", _but_the_tasks),
    ),
    # What begins is not written down first: nobody can finish or undo it.
    "skip-intent": (
        Replacement("siding.record.ledger.intents", "Intents.write", _nothing),
        Replacement("siding.record.tasks.registry_file", "Registry.put", _put_without_intent),
    ),
    # A write or a flush that failed counts as done.
    "swallow-errors": (
        Replacement("siding.ground.files.durable", "write_all", _without_errors),
        Replacement("siding.ground.files.durable", "flush", _without_errors),
    ),
    # What the kernel took is all there was to write.
    "ignore-short-write": (Replacement("siding.ground.files.durable", "write_all", _one_write),),
    # Steps are put into the order of their clocks.
    "order-by-time": (Replacement("siding.record.ledger.store", "Ledger.steps", _by_time),),
    # A document of a later version is taken for one of ours.
    "read-newer": (Replacement("siding.ground.storage.documents", "_refuse_newer", _nothing),),
    # Ctrl-C is an error like any other.
    "loud-interrupt": (
        Replacement("siding.record.place.wiring", "open_app", _interrupt_is_an_error),
    ),
    # A second answer replaces the first.
    "decision-last-answer-wins": (
        Replacement(
            "siding.asking.decisions.store", "DecisionStore._create_record", _overwrite_record
        ),
    ),
    # The question is removed before its record is there.
    "decision-question-first": (
        Replacement(
            "siding.asking.decisions.store", "DecisionStore._create_record", _question_goes_first
        ),
    ),
    # That commits wait to be taken over is forgotten before they are.
    "forget-quarantine": (
        Replacement("siding.record.unfinished.sandbox_commits", "take_over_commits", _forget_first),
    ),
    # What the policy said is written down only at the end.
    "forget-verdict": (
        Replacement("siding.record.recording.recorder", "Recorder.begin", _begin_without_verdict),
    ),
    # Answers are given to the script, and written down when all have been: whoever is killed at
    # that write has given every one, however busy the machine is.
    "write-answers-later": (
        Replacement("siding.workflows.journal", "JournalWriter.write_encoded", _at_the_end),
        Replacement("siding.workflows.journal", "JournalWriter.close", _with_what_waits),
    ),
    # A phase is moved before its commit is made.
    "state-in-place": (
        Replacement("siding.workflows.store", "RunFolder.write_state", _state_in_place),
    ),
    "phase-state-first": (
        Replacement("siding.record.phases.store", "PhaseStore.begin", _finish_at_once),
    ),
    # No mistake, but a file system that cannot exchange two names.
    "no-exchange": (_NO_EXCHANGE,),
    # No mistake either: the disk fails when three files are in their places.
    "fail-at-the-fourth-file": (_FAILS,),
    "fail-at-the-fourth-file, no-exchange": (_FAILS, _NO_EXCHANGE),
    # Somebody saves the fourth file, so that there is no way but back.
    "edit-the-fourth-file, no-exchange": (
        Replacement("siding.record.files.restore", "_put", _is_edited_before_the_fourth),
        _NO_EXCHANGE,
    ),
}

"""Siding's own: its home, its records, its broker, and what only a person may tell it."""

# mypy: ignore-errors
import os
import sys

from told import HERE, WORLD, any_of, read, succeeds, write

STATE = WORLD["state"]


def read_our_state():
    (project,) = os.listdir(STATE + "/projects")
    return read(f"{STATE}/projects/{project}/config.yaml")


def write_our_state():
    return write(STATE + "/projects/escaped")


def write_settings_of_all_projects():
    return write(STATE + "/config.yaml")


def write_who_is_trusted():
    return any_of(write, (f"{WORLD['project']}/{name}" for name in ("trust.json", "config.yaml")))


def write_the_policy():
    return any_of(write, (f"{WORLD['project']}/policy.yaml", f"{STATE}/policy.yaml"))


def answer_about_agents():
    return write(STATE + "/guard.json")


def write_a_ledger():
    return any_of(
        lambda task: write(f"{WORLD['project']}/tasks/{task}/ledger.jsonl"), WORLD["tasks"]
    )


def write_the_anchor():
    return any_of(lambda name: write(f"{WORLD['project']}/{name}"), WORLD["anchors"])


def write_snapshots():
    return write(f"{WORLD['project']}/snapshots.git/config")


def read_another_workspace():
    return read(WORLD["neighbour"] + "/secret")


def write_another_workspace():
    return write(WORLD["neighbour"] + "/escaped")


def write_the_program_itself():
    return any_of(write, (f"{WORLD['program']}/escaped.py", f"{WORLD['program']}/__main__.py"))


def replace_the_broker():
    os.unlink(os.environ["SIDING_SOCKET"])
    return True


def _siding(*words):
    return succeeds(sys.executable, "-m", "siding", *words)


def say_that_a_person_has_seen_it():
    return _siding("trust", "-t", "attacked")


def apply_it_oneself():
    return _siding("apply", "-t", "attacked")


def run_without_a_sandbox():
    return _siding("run", "-t", "attacked", "--no-sandbox", "--", "touch", HERE + "/unboxed")

"""The words of a row about services: machines, databases, environments, tasks, containers."""

import re
from typing import TYPE_CHECKING

from siding.shellguard.fields import FOUND_BY_NAME, known, shown_words
from siding.shellguard.hosts import is_elsewhere, is_metadata
from siding.shellguard.names import names
from siding.shellguard.programs.purposes import (
    is_other_machine,
    is_production,
    rule_of_task,
    spares_production,
    works_on_data,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from siding.shellguard.examiner import Examiner
    from siding.shellguard.state import Call


def _host(examiner: "Examiner", _call: "Call", value: str) -> None:
    if is_metadata(value):
        examiner.found("cloud-metadata", value)
    host = value.removeprefix("tcp:")
    if is_elsewhere(host) or is_other_machine(host):
        examiner.found("send-data", value)


_IN_A_FILE = r"(?i)(?:sqlite3?|duckdb|file|jdbc:sqlite|jdbc:h2)\b"
_NAMED_HOST = r"(?i)\b(?:host|server|service)=(?:tcp:)?([^\s;,]+)|@(?://)?([\w.-]+)(?::\d+)?(?:/|$)"


def _database(examiner: "Examiner", _call: "Call", value: str) -> None:
    """Judge the name or the address of a database."""
    if re.match(_IN_A_FILE, value):
        return
    value = value.removeprefix("jdbc:")
    if "://" in value:
        host = value.partition("://")[2].partition("/")[0].rpartition("@")[2]
        if is_elsewhere(host) or is_other_machine(host.partition(":")[0]):
            examiner.found("send-data", value)
        return
    found = re.search(_NAMED_HOST, value) or re.match(r"([\w-]+(?:\.[\w-]+)+)(?::\d+)?/", value)
    host = next(filter(None, found.groups()), "") if found else ""
    if not host and "/" in value and is_production(value.partition("/")[0]):
        host = value.partition("/")[0]  # `mongosh prod/app`
    if host and (is_elsewhere(host) or is_other_machine(host)):
        examiner.found("send-data", value)


_STAGES = names("APP_ENV DEPLOY_ENV ENV ENVIRONMENT NODE_ENV RACK_ENV RAILS_ENV STAGE")


def judge_task(examiner: "Examiner", call: "Call", value: str) -> None:
    """Judge a task of the project by its name, and where it works: ``make deploy``."""
    if not known(value) or "=" in value:
        return
    rule = rule_of_task(value)
    if rule:
        examiner.found(rule, value)
    elif works_on_data(value):
        variables = {**call.state.variables, **call.env}
        stages = [variables.get(name, "") for name in sorted(_STAGES)]
        if any(map(is_production, (*stages, *call.arguments))):
            examiner.found("change-remote", value)
        _database(examiner, call, variables.get("DATABASE_URL", ""))


def _stage(examiner: "Examiner", call: "Call", value: str) -> None:
    """Judge the name of an environment: in production little may be changed unasked."""
    if is_production(value) and not spares_production(call.arguments, value):
        examiner.found("change-remote", value)


def _container(examiner: "Examiner", call: "Call", value: str) -> None:
    """Judge a container that is ended: a list of all that run holds those of others."""
    if FOUND_BY_NAME in value:
        examiner.found("change-remote", shown_words(call.words[:6]))


def _exports(examiner: "Examiner", call: "Call", value: str) -> None:
    """Judge what a build of an image makes: ``type=registry``, ``type=local,dest=DIR``, a path."""
    if re.search(r"(?:^|[,=])type=registry|\bpush=true", value):
        examiner.found("publish", value)
    found = re.search(r"(?:^|,)dest=([^,]+)", value)
    path = found.group(1) if found else value
    if path != "-" and "=" not in path:
        examiner.writes(path, call.state)


def _graphql(examiner: "Examiner", _call: "Call", value: str) -> None:
    """Judge a field of a request of GraphQL; the one called `query` may hold a mutation."""
    name, _, text = value.partition("=")
    if name == "query" and (not known(text) or "mutation" in text or text[:1] == "@"):
        examiner.found("change-remote", value)


_CHANGES_RECORDS = (
    r"(?i)\b(?:delete|destroy|update|insert)_(?:all|by)\b|\bdrop_table\b|\btruncate\b"
    r"|(?:->|\.)(?:force)?(?:delete|destroy)!?\s*(?:\(|$|;)|\bflush(?:all|db)\b"
)


def _models(examiner: "Examiner", call: "Call", value: str) -> None:
    """Judge a program that works on the records of the project's own application."""
    from siding.shellguard.programs.program_text import judge_program  # few commands hold a program

    judge_program(examiner, call.name, value, call.state)
    if re.search(_CHANGES_RECORDS, value):
        examiner.found("destroy-data", value)


SERVICES: "dict[str, Callable[[Examiner, Call, str], None]]" = {
    "host": _host,
    "database": _database,
    "task": judge_task,
    "stage": _stage,
    "container": _container,
    "exports": _exports,
    "graphql": _graphql,
    "models": _models,
}

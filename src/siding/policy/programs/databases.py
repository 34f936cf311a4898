"""Databases and key stores: a command that only reads is allowed, one that changes data asks."""

import re
from typing import TYPE_CHECKING

from siding.policy.fields import ANYTHING, PrintedText, known, shown_words
from siding.policy.names import names, ordered
from siding.policy.options import arguments
from siding.policy.paths import Zone
from siding.policy.programs.plain import reads_all

if TYPE_CHECKING:
    from siding.policy.call import Call
    from siding.policy.examiner import Examiner

_SQL_WRITES = re.compile(
    r"(?is)\b(?:drop|truncate|delete|alter|update|insert|replace|grant|revoke|create|copy|vacuum"
    r"|attach|load_extension|pg_read_file|lo_import|into\s+outfile|call|do|execute|set\s+role)\b"
)


def database(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge psql, mysql, sqlite3 and the like: statements that change data or run programs ask."""
    words = call.arguments
    if set(words) & {"--version", "--help", "-V"} and len(words) <= 2:
        return ANYTHING
    reads_all(examiner, call)
    texts = [w for w in words if " " in w or w.startswith((".", "\\", "!"))]
    given = arguments(
        words,
        ordered("""
            -c -e -f -o -h -U -d -p --command -L --execute --file --output --eval -P -u -D
        """),
    )
    texts += given.values("-c", "-e", "--command", "--execute", "--eval")
    texts += [call.stdin.text] if call.stdin.text else []
    for path in given.values("-o", "--output", "-L"):
        if path.startswith("|"):
            examiner.found("option-runs-program", path)
        else:
            examiner.writes(path, call.state)
    for path in given.values("-f", "--file"):
        if examiner.zone(path, call.state) is not Zone.INSIDE:
            examiner.found("run-outside", path)
    for text in texts:
        _sql(examiner, call, text)
    if call.stdin.remote:
        examiner.found("remote-code", call.name)
    return ANYTHING


def _sql(examiner: "Examiner", call: "Call", text: str) -> None:
    if not known(text):
        examiner.found("code-from-input", text)
        return
    meta = re.search(
        r"(?m)(?:^|;)[^\S\n]*(?:\\[!goi|wscr]|\\copy|\.(?:shell|system|output|once"
        r"|import|load|save|backup|read|restore|excel|archive|clone|open)|system\s|source\s)",
        text,
    )
    if meta or re.search(r"(?is)\bprogram\b|load_extension|writefile|readfile", text):
        examiner.found("code-unclear", text[:120])
        for line in re.findall(r"(?:\\!|\.shell|\.system|system)\s*(.+)", text):
            examiner.inner_text(call.name, line, call.state)
        for path in re.findall(r"\.(?:output|once|save|backup|clone|open)\s+(\S+)", text):
            examiner.writes(path, call.state)
    bare = re.sub(r"'(?:[^']|'')*'", "''", text)
    found = _SQL_WRITES.search(bare)
    if found:
        examiner.found("destroy-data", found.group())


_REDIS_LOOKS = names(
    """
    ping get mget keys scan info dbsize ttl type exists hgetall hget llen lrange smembers zrange
    monitor client memory time echo lastsave
    """
)


def key_store(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge redis-cli, mongosh and the like."""
    words = [w for w in call.arguments if not w.startswith("-")]
    if call.name in ("redis-cli", "valkey-cli", "memcached-tool"):
        given = arguments(call.arguments, ("-h", "-p", "-a", "-n", "-u", "-s"))
        verb = given.operands[0].lower() if given.operands else ""
        if given.has("--eval", "--pipe", "--rdb") or (verb and verb not in _REDIS_LOOKS):
            examiner.found("destroy-data", shown_words(call.words[:6]))
        elif not verb and not given.has("--version", "--help", "--stat", "--scan", "--bigkeys"):
            examiner.found("code-from-input", call.name)
        return ANYTHING
    if not set(call.arguments) & {"--version", "--help"}:
        examiner.found("destroy-data", shown_words([call.words[0], *words[:4]]))
    return ANYTHING


JUDGES = {
    **dict.fromkeys(
        names(
            """psql mysql mariadb sqlite3 sqlite duckdb clickhouse-client cockroach usql pgcli mycli
            litecli sqlcmd isql cqlsh influx trino presto hive impala-shell"""
        ),
        database,
    ),
    **dict.fromkeys(
        names(
            """redis-cli valkey-cli mongo mongosh mongoimport mongorestore mongodump dropdb createdb
            dropuser createuser pg_dump pg_restore pg_dumpall pg_ctl initdb mysqladmin mysqldump
            mysqlimport pg_resetwal memcached-tool reindexdb vacuumdb"""
        ),
        key_store,
    ),
}

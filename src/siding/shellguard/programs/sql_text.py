"""Judge SQL that a command line holds, and the clients' own commands in it."""

import re
from typing import TYPE_CHECKING

from siding.shellguard.fields import known

if TYPE_CHECKING:
    from siding.shellguard.call import Call
    from siding.shellguard.examiner import Examiner

_SQL_WRITES = re.compile(
    r"(?is)\b(?:drop|truncate|delete|alter|update|insert|replace|grant|revoke|(?<!show )create|copy"
    r"|vacuum|attach|load_extension|load_file|pg_(?:terminate|cancel)_backend|pg_read_file|lo_import"
    r"|into\s+outfile|call|do|execute|set\s+role"
    r"|install\s+(?:plugin|component)|load(?=\s+'')"
    r"|lo_export|pg_(?:reload_conf|switch_wal|promote|write_file|read_binary_file)|xp_cmdshell"
    r"|killOp|stepDown|fsyncLock|renameCollection"
    # of MongoDB: `deleteMany`, `dropDatabase`
    r"|(?:drop|delete|update|insert|replace|remove|rename|create|bulkWrite|findAnd(?:Modify|Update))"
    r"(?:One|Many|Database|Collection|Index(?:es)?|User)?(?=\s*\()|(?:run|admin)Command|shutdownServer"
    r"|\$out|\$merge)\b"
)
# What acts on the server when a statement begins with it; elsewhere it may be the name of a column.
_BEGINS = re.compile(
    r"(?is)(?:^|;)\s*(?:set\s+(?:global|persist)|kill\s+(?:query\s+|connection\s+)?\d|flush|shutdown"
    r"|reset\s+(?:master|slave|replica)|purge\s+binary|reindex|refresh\s+materialized"
    r"|reassign\s+owned|optimize\s+table|detach\s+table|merge\s+into|lock\s+tables?"
    r"|system\s+(?:drop|stop|reload|shutdown))\b"
)
# Functions and clauses that read a file or an address, with the text they are given.
_READS = re.compile(
    r"(?is)\b(?:read_(?:csv|csv_auto|parquet|json|json_auto|text|blob)|file|url|s3|http_get|dblink"
    r"|from|infile)\s*\(?\s*'([^']*)'"
)


def judge_sql(examiner: "Examiner", call: "Call", text: str) -> None:
    if not known(text):
        examiner.found("code-from-input", text)
        return
    examiner.budget.spend(2 + len(text) // 8, "reading program text")
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
    for path in _READS.findall(text):
        if "://" in path:
            examiner.found("send-data", path)
        examiner.reads(path, call.state)
    bare = re.sub(r"'(?:[^']|'')*'", "''", text)
    found = _SQL_WRITES.search(bare) or _BEGINS.search(bare)
    if found:
        examiner.found("destroy-data", found.group())

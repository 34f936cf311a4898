"""Sessions: conversations with a model, each stored as an append-only file of JSON lines.

The messages of a file form a tree; the conversation is the path from the newest message to its
root. `FORMAT.md` describes the files, `docs/sessions.md` the rules. Without I/O: `kinds` (the types
of lines), `messages`, `compaction`; in `reading`: `tree` (messages and their parents),
`chains` (which message is the end, which messages lead to it), `damage`, `views`, `recovery`,
`listing`. With I/O: `reading.transcript` (reads a whole file or only its live end), `metadata`,
`writer`, `store`, `branches`, `session`. Of other programs' conversations: `homes`, `summaries`,
`search`, `interchange`, `counting`.
"""

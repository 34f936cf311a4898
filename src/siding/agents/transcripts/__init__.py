"""Sessions: conversations with a model, each stored as an append-only file of JSON lines.

The messages of a file form a tree; the conversation is the path from the newest message to its
root. `FORMAT.md` describes the files and how a conversation is read from them.

Without I/O: `kinds` (the types of lines), `messages`, `compaction`; in `reading`: `tree` (messages
and their parents), `chains` (which message is the end, which messages lead to it), `damage`,
`views`, `recovery`, `listing`. With I/O: `transcript` (reads a whole file or only its live end) and
`metadata` in `reading`; `writer`, `store`, `branches`, `session`. Of the conversations of other
programs: `homes`, `summaries`, `search`, `interchange`, `counting`.
"""

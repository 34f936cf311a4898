"""Sessions: conversations as append-only trees of entries, rebuilt from their newest end.

`docs/sessions.md` describes the files and the rules. The pure core: `entries` (what a line can be),
`tree` (messages and their parents), `chains` (which end, which line of messages), `metadata`,
`views`, `recovery`, `listing`. Around it: `transcript` (a whole file or only its live end),
`writer`, `store`.
"""

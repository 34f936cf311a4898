"""Tasks (what is to be done) and their workspaces (where). `FORMAT.md` describes the files."""

"""Programs that somebody talks with for a while: a pager, a server, the process of a script."""

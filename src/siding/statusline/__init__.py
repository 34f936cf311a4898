"""The line of status: a command of the person's, or what Siding says in its place."""

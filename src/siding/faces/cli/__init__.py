"""The command line: one file per verb, parse -> app -> print -> exit code."""

"""The verbs that show the record: `log`, `show`, `diff`, `status`, `verify`."""

"""Record steps in a ledger, read them, compare them, and verify the record."""

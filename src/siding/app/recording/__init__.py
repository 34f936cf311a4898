"""How anything enters a ledger, and how what is there is read and proved."""

"""The tools for commands: Bash, BashOutput, KillShell. `shells` runs them."""

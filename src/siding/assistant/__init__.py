"""The built-in agent: how it is started as a run, and what it is made of inside one."""

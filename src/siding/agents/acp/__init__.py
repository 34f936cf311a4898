"""Agents that speak the Agent Client Protocol (ACP, version 1) over standard input and output.

A run of such an agent is a run of `bridge_program`: it starts the agent in the workspace, gives it
the one prompt, answers what it asks, and prints what it says as events. So it is recorded, stopped
and sandboxed like any other run.
"""

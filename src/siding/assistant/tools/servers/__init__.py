"""Tools that servers of MCP offer: of the program that drives the agent, or processes of ours.

Protocol: Model Context Protocol, revision 2025-06-18: JSON-RPC 2.0, of which only `initialize`,
`tools/list` and `tools/call` are used.
"""

"""The built-in agent: the loop that asks a model, uses tools and goes on until it is done.

`loop` is an asynchronous generator of events. It knows no screen and no disk: what must last goes
through the port `Conversation` (`setup`), which is awaited; the model is behind the port `model`;
whether a tool may be used is asked of the port `Guard` (`setup`), which `permissions.guard`
implements. The rest of `permissions`, `settings` and `effort` are pure.
"""

"""Models: the providers that the agent can ask, and the scripted one.

Nothing of a provider's library is imported before a request is made; `AnyModel.warm` imports it
ahead of time.
"""

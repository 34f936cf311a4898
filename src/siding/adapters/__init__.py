"""What Siding knows of programs of other people that it works with, each in a module of its own.

Adapters stand above the domains: `app` asks them, and hands what they say to a domain as a value.
"""

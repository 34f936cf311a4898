"""Paired devices: their keys, the offer by which one is paired, and the proofs that they sign.

Only `signatures` and `certificate` load `cryptography`, which is an extra of the package.
"""

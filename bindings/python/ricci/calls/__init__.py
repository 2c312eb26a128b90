"""Calls of compiled programs with trees of arrays."""

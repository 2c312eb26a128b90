"""Transformations of functions, and the primitives that hold programs."""

"""What holds for everything that one thread computes: its open traces and the limits of its runs.

One object, so that a call can see at once that there is neither (`native.py`).
"""
import threading


class _ThreadState(threading.local):
    traces = ()  # a list in threads that have traced
    limits = None  # (deadline, Cancel or None)


state = _ThreadState()

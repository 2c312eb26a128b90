"""The C ABI of Ricci in Python, by ctypes: libraries, contexts, programs, arrays, and what C calls."""

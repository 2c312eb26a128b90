/* native_host.h: what the extension takes from the interpreter, from NumPy and from the library that ctypes has opened.
 *
 * The extension links neither libricci nor NumPy: `setup` gets addresses of functions and objects from the package
 * (ricci/calls/native.py), once, and everything else only reads them. So there is one copy of the library in the
 * process, and one file serves every Python from 3.11 on (the stable ABI) and NumPy 1 and 2.
 *
 * Rule of all files here: an unusual case is not an error. The function says so (`kUnusual`), and the call is made
 * again by the Python code of the package, which takes it or raises the message for it.
 */
#ifndef RICCI_PYTHON_NATIVE_HOST_H
#define RICCI_PYTHON_NATIVE_HOST_H

#define Py_LIMITED_API 0x030b0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>

#include "ricci/base.h"

/* How a step of a call ended. With kRaised a Python exception is set, else none is. */
typedef enum { kDone, kUnusual, kRaised } Outcome;

typedef struct {
  ricci_status* (*call_create)(const ricci_executable* x, ricci_call** out);
  ricci_status* (*call_run_at)(ricci_call* k, void* const* pointers, size_t n, int64_t offset);
  void (*call_release)(ricci_call* k);
  ricci_executable* (*executable_retain)(ricci_executable* x);
  void (*executable_release)(ricci_executable* x);
  PyTypeObject* array_type; /* numpy.ndarray */
  PyObject* bool_dtype;     /* that of NumPy for a bool of Python */
  PyObject* thread_state;   /* with `traces` and `limits` of the thread */
  PyObject* escaped;        /* the dict of raised.py: what functions left that C called */
  PyObject* failed;         /* function(status or None): raises what a run reported */
  PyObject* convert;        /* function(leaf): an array of NumPy for it, or None if it is unusual */
  PyObject* asarray;        /* numpy.asarray, which is enough for leaves of */
  PyObject* converted;      /* these classes: a dict */
  PyObject *call_name, *prepared_name, *traces_name, *limits_name;
} NativeHost;

extern NativeHost native_host; /* written by `setup` alone, before anything else is made */

/* One more reference to an object of a type that is made here, and one less; NULL is none. */
static inline void* Retain(void* object) {
  Py_XINCREF((PyObject*)object);
  return object;
}
static inline void Release(void* object) { Py_XDECREF((PyObject*)object); }

/* kRaised if the exception that is set must reach the user as it is (an interrupt); else it is dropped: kUnusual. */
Outcome DropException(void);

/* A part of `room`, or memory that ReleaseRoom frees; NULL with MemoryError if there is none. One piece per room. */
typedef struct {
  void* heap;
  _Alignas(16) char stack[1536];
} Room;
void* Reserve(Room* room, size_t count, size_t bytes_each);
void ReleaseRoom(Room* room);

#endif

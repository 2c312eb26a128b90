/* The extension module ricci_calls: its types, and `setup`; see native_host.h. */
#include "native_callers.h"
#include "native_kinds.h"

NativeHost native_host;

Outcome DropException(void) {
  if (!PyErr_ExceptionMatches(PyExc_Exception)) return kRaised;
  PyErr_Clear();
  return kUnusual;
}

void* Reserve(Room* room, size_t count, size_t bytes_each) {
  room->heap = NULL;
  if (count <= sizeof room->stack / bytes_each) return room->stack;
  room->heap = PyMem_Calloc(count, bytes_each);
  return room->heap == NULL ? (void*)PyErr_NoMemory() : room->heap;
}

void ReleaseRoom(Room* room) { PyMem_Free(room->heap); }

static bool ReadFunctions(PyObject* addresses) {
  unsigned long long create, run_at, release, retain, drop;
  if (!PyArg_ParseTuple(addresses, "KKKKK", &create, &run_at, &release, &retain, &drop)) return false;
  native_host.call_create = (ricci_status * (*)(const ricci_executable*, ricci_call**))(uintptr_t)create;
  native_host.call_run_at = (ricci_status * (*)(ricci_call*, void* const*, size_t, int64_t))(uintptr_t)run_at;
  native_host.call_release = (void (*)(ricci_call*))(uintptr_t)release;
  native_host.executable_retain = (ricci_executable * (*)(ricci_executable*))(uintptr_t)retain;
  native_host.executable_release = (void (*)(ricci_executable*))(uintptr_t)drop;
  return true;
}

static bool MakeOwn(void) {
  native_host.call_name = PyUnicode_InternFromString("_call");
  native_host.prepared_name = PyUnicode_InternFromString("_prepared");
  native_host.traces_name = PyUnicode_InternFromString("traces");
  native_host.limits_name = PyUnicode_InternFromString("limits");
  native_host.converted = PyDict_New();

  return PyErr_Occurred() == NULL;
}

/* setup(addresses, numpy.ndarray, NumPy's table, samples, dtype of a bool, thread_state, escaped, failed, convert,
 * asarray) */
static PyObject* Setup(PyObject* module, PyObject* arguments) {
  (void)module;
  NativeHost* h = &native_host;
  PyObject *addresses, *array_type, *table, *samples;
  if (h->array_type != NULL) return PyErr_Format(PyExc_ImportError, "ricci_calls is set up already");
  if (!PyArg_ParseTuple(arguments, "OO!OO!OOO!OOO", &addresses, &PyType_Type, &array_type, &table, &PyList_Type,
                        &samples, &h->bool_dtype, &h->thread_state, &PyDict_Type, &h->escaped, &h->failed, &h->convert,
                        &h->asarray)) {
    return NULL;
  }
  h->array_type = (PyTypeObject*)array_type;
  if (!ReadFunctions(addresses) || !MakeOwn() || !TakeArrayInterface(table, samples)) {
    h->array_type = NULL;
    return NULL;
  }
  PyObject* kept[] = {array_type, h->bool_dtype, h->thread_state, h->escaped, h->failed, h->convert, h->asarray};
  for (size_t i = 0; i < sizeof kept / sizeof *kept; ++i) Py_INCREF(kept[i]); /* as long as the process */
  return Py_NewRef(Py_None);
}

PyMODINIT_FUNC PyInit_ricci_calls(void) {
  static PyMethodDef methods[] = {
      {"setup", Setup, METH_VARARGS, "takes what the package hands over, once, before anything is made"}, {NULL}};
  static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "ricci_calls",
                                   "Calls of compiled code; see ricci/calls/native.py.", -1, methods};
  PyObject* module = PyModule_Create(&definition);
  const bool is_whole =
      module != NULL && AddTreeType(module) && AddTargetType(module) && AddKindType(module) && AddCallerType(module);
  if (!is_whole) Py_CLEAR(module);
  return module;
}

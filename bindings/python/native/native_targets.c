/* Compiled programs; see native_targets.h. */
#include "native_targets.h"

#include <string.h>

PyTypeObject* target_type;

/* ---- runs ---- */

/* kRaised for what a run reported, or for what a Python function left that it called. */
static Outcome Failed(ricci_status* status) {
  PyObject* number = status == NULL ? Py_NewRef(Py_None) : PyLong_FromVoidPtr(status);
  PyObject* found = number == NULL ? NULL : PyObject_CallFunctionObjArgs(native_host.failed, number, NULL);
  Py_XDECREF(number);
  if (found == NULL) return kRaised;
  Py_DECREF(found);
  return kDone; /* nothing had been left in this thread */
}

/* A free call, or a new one; NULL with an exception set. */
static ricci_call* TakeCall(Target* target) {
  if (target->n_free > 0) return target->calls[--target->n_free];
  ricci_call** grown = PyMem_Realloc(target->calls, (size_t)(target->n_made + 1) * sizeof *grown);
  if (grown == NULL) return (ricci_call*)PyErr_NoMemory();
  target->calls = grown;
  ricci_call* made = NULL;
  ricci_status* status = native_host.call_create(target->executable, &made);
  if (status != NULL && Failed(status) == kRaised) return NULL;
  ++target->n_made;
  return made;
}

static void GiveCall(Target* target, ricci_call* call, bool has_failed) {
  if (!has_failed) target->calls[target->n_free++] = call;
  if (has_failed) --target->n_made;
  if (has_failed) native_host.call_release(call);
}

static void DropAll(PyObject** objects, Py_ssize_t n) {
  for (Py_ssize_t i = 0; i < n; ++i) Py_DECREF(objects[i]);
}

static Outcome MakeResults(Target* target, void** pointers, PyObject* const* arrays, PyObject** results) {
  for (Py_ssize_t i = 0; i < target->n_results; ++i) {
    const int32_t alias = target->aliases[i];
    results[i] = alias < 0 ? NewArray(&target->types[target->n_params + i]) : Py_NewRef(arrays[alias]);
    if (results[i] == NULL) return DropAll(results, i), kRaised;
    pointers[target->n_params + i] = FieldsOf(results[i])->data;
  }
  return kDone;
}

Outcome RunTarget(Target* target, void** pointers, PyObject* const* arrays, PyObject** results) {
  if (MakeResults(target, pointers, arrays, results) != kDone) return kRaised;
  ricci_call* call = TakeCall(target);
  if (call == NULL) return DropAll(results, target->n_results), kRaised;
  const size_t n = (size_t)(target->n_params + target->n_results);
  ricci_status* status;
  Py_BEGIN_ALLOW_THREADS status = native_host.call_run_at(call, pointers, n, -1);
  Py_END_ALLOW_THREADS const bool has_left = status == NULL && PyDict_Size(native_host.escaped) > 0;
  GiveCall(target, call, status != NULL);
  if ((status != NULL || has_left) && Failed(status) == kRaised) return DropAll(results, target->n_results), kRaised;
  return kDone;
}

/* `run(arrays)`: the list of results, for arguments that the Python code of the package has prepared. */
static PyObject* RunPrepared(Target* target, PyObject* arrays, PyObject** slots, void** pointers) {
  for (Py_ssize_t i = 0; i < target->n_params; ++i) {
    PyObject* x = PyList_GetItem(arrays, i); /* kept by the list, which is the package's own */
    if (!TakesArray(target, i, x)) return PyErr_Format(PyExc_TypeError, "run: argument %zd is not prepared", i);
    slots[i] = x;
    pointers[i] = FieldsOf(x)->data;
  }
  PyObject** results = slots + target->n_params;
  if (RunTarget(target, pointers, slots, results) != kDone) return NULL;
  PyObject* made = PyList_New(target->n_results);
  if (made == NULL) return DropAll(results, target->n_results), NULL;
  for (Py_ssize_t i = 0; i < target->n_results; ++i) PyList_SetItem(made, i, results[i]);
  return made;
}

static PyObject* Run(PyObject* object, PyObject* arrays) {
  Target* self = (Target*)object;
  if (!PyList_Check(arrays) || PyList_Size(arrays) != self->n_params) {
    return PyErr_Format(PyExc_TypeError, "run: a list of %zd arrays is expected", self->n_params);
  }
  Room slots, pointers;
  const size_t n = (size_t)(self->n_params + self->n_results);
  void* first = Reserve(&slots, n, sizeof(PyObject*));
  void* second = Reserve(&pointers, n, sizeof(void*));
  PyObject* made = first == NULL || second == NULL ? NULL : RunPrepared(self, arrays, first, second);
  ReleaseRoom(&slots);
  ReleaseRoom(&pointers);
  return made;
}

/* ---- the type ---- */

static bool ReadTypes(PyObject* pairs, ArrayType* out) {
  for (Py_ssize_t i = 0; i < PyList_Size(pairs); ++i) {
    if (!ReadArrayType(PyList_GetItem(pairs, i), &out[i])) return false;
  }
  return true;
}

static bool ReadNumbers(PyObject* donated, PyObject* aliases, Target* out) {
  for (Py_ssize_t i = 0; i < out->n_params; ++i) out->donated[i] = PyObject_IsTrue(PyList_GetItem(donated, i)) == 1;
  for (Py_ssize_t i = 0; i < out->n_results; ++i) out->aliases[i] = (int32_t)PyLong_AsLong(PyList_GetItem(aliases, i));
  return PyErr_Occurred() == NULL;
}

static bool ReserveTarget(Target* self) {
  const size_t n = (size_t)self->n_params, m = (size_t)self->n_results;
  self->types = PyMem_Calloc(n + m + 1, sizeof *self->types);
  self->donated = PyMem_Calloc(n + 1, sizeof *self->donated);
  self->aliases = PyMem_Calloc(m + 1, sizeof *self->aliases);
  if (self->types == NULL || self->donated == NULL || self->aliases == NULL) return PyErr_NoMemory(), false;
  return true;
}

/* Target(address of the executable, context, params, results, donated, aliases): lists, as those of Executable. */
static PyObject* NewTarget(PyTypeObject* type, PyObject* arguments, PyObject* named) {
  unsigned long long executable;
  PyObject *context, *params, *results, *donated, *aliases;
  if (named != NULL || !PyArg_ParseTuple(arguments, "KOO!O!O!O!", &executable, &context, &PyList_Type, &params,
                                         &PyList_Type, &results, &PyList_Type, &donated, &PyList_Type, &aliases)) {
    return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "Target takes no keywords");
  }
  Target* self = (Target*)PyType_GenericNew(type, arguments, NULL);
  if (self == NULL) return NULL;
  self->n_params = PyList_Size(params);
  self->n_results = PyList_Size(results);
  if (!ReserveTarget(self) || !ReadTypes(params, self->types) || !ReadTypes(results, self->types + self->n_params) ||
      !ReadNumbers(donated, aliases, self)) {
    Py_DECREF(self);
    return NULL;
  }
  self->context = Py_NewRef(context);
  self->executable = native_host.executable_retain((ricci_executable*)(uintptr_t)executable);
  return (PyObject*)self;
}

/* A context keeps executables, and so their Targets, which keep the context: the cycle is cut in the context. */
static int VisitTarget(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(((Target*)object)->context);
  return 0;
}

static void FreeTarget(PyObject* object) {
  Target* self = (Target*)object;
  PyTypeObject* type = Py_TYPE(object);
  PyObject_GC_UnTrack(object);
  for (Py_ssize_t i = 0; i < self->n_free; ++i) native_host.call_release(self->calls[i]);
  if (self->executable != NULL) native_host.executable_release(self->executable);
  for (Py_ssize_t i = 0; self->types != NULL && i < self->n_params + self->n_results; ++i)
    FreeArrayType(&self->types[i]);
  PyMem_Free(self->calls);
  PyMem_Free(self->types);
  PyMem_Free(self->donated);
  PyMem_Free(self->aliases);
  Py_XDECREF(self->context);
  PyObject_GC_Del(object);
  Py_DECREF(type);
}

bool AddTargetType(PyObject* module) {
  static PyMethodDef methods[] = {{"run", Run, METH_O, "the list of results, for a list of prepared arrays"}, {NULL}};
  static PyType_Slot slots[] = {{Py_tp_new, (void*)NewTarget},
                                {Py_tp_traverse, (void*)VisitTarget},
                                {Py_tp_dealloc, (void*)FreeTarget},
                                {Py_tp_methods, methods},
                                {0, NULL}};
  static PyType_Spec spec = {"ricci_calls.Target", sizeof(Target), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots};
  target_type = (PyTypeObject*)PyType_FromSpec(&spec);
  return target_type != NULL && PyModule_AddObjectRef(module, "Target", (PyObject*)target_type) == 0;
}

/* What can be called; see native_callers.h. */
#include "native_callers.h"

#include "native_kinds.h"

enum { kMaxTrees = 32 }; /* structures of one caller that are compared with a call */

typedef struct {
  PyObject object;
  PyObject* trees; /* a list, the one used last first; NULL if there is none */
} Caller;

/* ---- calls ---- */

/* Is an attribute of the state of this thread set? kUnusual if so. */
static Outcome IsUnset(PyObject* name) {
  PyObject* value = PyObject_GetAttr(native_host.thread_state, name);
  const int is_set = value == NULL ? -1 : PyObject_IsTrue(value);
  Py_XDECREF(value);
  return is_set < 0 ? DropException() : is_set ? kUnusual : kDone;
}

/* The only kind of a tree if types do not matter, else that for the types of the leaves: a new reference or NULL. */
static Outcome ChooseKind(Tree* tree, PyObject** leaves, Kind** out) {
  const Py_ssize_t n = tree->kinds == NULL ? 0 : PyList_Size(tree->kinds);
  Kind* first = n == 0 ? NULL : (Kind*)PyList_GetItem(tree->kinds, 0);
  if (first != NULL && first->numbers == NULL) return *out = Retain(first), kDone;
  Outcome found = kDone;
  for (Py_ssize_t i = 0; i < tree->n_leaves && found == kDone; ++i) found = ConvertLeaf(&leaves[i]);
  if (found != kDone) return found;
  *out = Retain(FindKind(tree, leaves));
  return *out == NULL ? kUnusual : kDone;
}

static Outcome CallTree(PyObject* caller, Tree* tree, PyObject* arguments, PyObject* named, PyObject** result) {
  Room room;
  Py_ssize_t n = 0;
  Kind* kind = NULL;
  PyObject** leaves = Reserve(&room, (size_t)tree->n_leaves, sizeof *leaves);
  Outcome found = leaves == NULL ? kRaised : TakeLeaves(tree, arguments, named, leaves, &n);
  if (found == kDone) found = ChooseKind(tree, leaves, &kind);
  if (found == kDone) found = RunKind(kind, caller, leaves, result);
  Release(kind);
  for (Py_ssize_t i = 0; i < n; ++i) Py_DECREF(leaves[i]);
  ReleaseRoom(&room);
  return found;
}

static void MoveToFront(PyObject* list, Py_ssize_t i) {
  if (i == 0 || i >= PyList_Size(list)) return;
  PyObject* first = Py_NewRef(PyList_GetItem(list, 0));
  PyList_SetItem(list, 0, Py_NewRef(PyList_GetItem(list, i)));
  PyList_SetItem(list, i, first);
}

static Outcome CallKnown(Caller* self, PyObject* trees, PyObject* arguments, PyObject* named, PyObject** result) {
  Outcome found = IsUnset(native_host.traces_name);
  if (found == kDone) found = IsUnset(native_host.limits_name);
  if (found != kDone) return found;
  found = kUnusual;
  for (Py_ssize_t i = 0; found == kUnusual && i < PyList_Size(trees);
       ++i) { /* which Python code may change meanwhile */
    Tree* tree = Retain(PyList_GetItem(trees, i));
    found = CallTree((PyObject*)self, tree, arguments, named, result);
    Release(tree);
    if (found == kDone) MoveToFront(trees, i);
  }
  return found;
}

static PyObject* Call(PyObject* object, PyObject* arguments, PyObject* named) {
  Caller* self = (Caller*)object;
  PyObject* result = NULL;
  Outcome found = kUnusual;
  if (self->trees != NULL) {
    PyObject* trees = Py_NewRef(self->trees);
    found = CallKnown(self, trees, arguments, named, &result);
    Py_DECREF(trees);
  }
  if (found != kUnusual) return result;
  PyObject* keywords = named == NULL ? PyDict_New() : Py_NewRef(named);
  if (keywords == NULL) return NULL;
  result = PyObject_CallMethodObjArgs(object, native_host.call_name, arguments, keywords, NULL);
  Py_DECREF(keywords);
  return result;
}

/* ---- what is known ---- */

/* Where it is in a list, by identity; -1 if it is not there. */
static Py_ssize_t IndexIn(PyObject* list, void* object) {
  const Py_ssize_t n = list == NULL ? 0 : PyList_Size(list);
  for (Py_ssize_t i = 0; i < n; ++i) {
    if (PyList_GetItem(list, i) == (PyObject*)object) return i;
  }
  return -1;
}

/* Keeps the first trees of a list. The others and their kinds, which refer to each other, are free then. */
static bool DropTrees(PyObject* trees, Py_ssize_t n_kept) {
  while (PyList_Size(trees) > n_kept) { /* Python code may run when something is freed */
    Tree* tree = Retain(PyList_GetItem(trees, n_kept));
    const bool is_dropped = PyList_SetSlice(trees, n_kept, n_kept + 1, NULL) == 0;
    PyObject* kinds = tree->kinds;
    tree->kinds = NULL;
    Py_XDECREF(kinds);
    Release(tree);
    if (!is_dropped) return false;
  }
  return true;
}

static bool IsKind(PyObject* x) {
  if (Py_TYPE(x) == kind_type) return true;
  PyErr_SetString(PyExc_TypeError, "a Kind is expected");
  return false;
}

static PyObject* Learn(PyObject* object, PyObject* kind) {
  Caller* self = (Caller*)object;
  if (!IsKind(kind)) return NULL;
  Tree* tree = ((Kind*)kind)->tree;
  if (self->trees == NULL && (self->trees = PyList_New(0)) == NULL) return NULL;
  if (tree->kinds == NULL && (tree->kinds = PyList_New(0)) == NULL) return NULL;
  if (IndexIn(tree->kinds, kind) < 0 && PyList_Insert(tree->kinds, 0, kind) < 0) return NULL;
  if (IndexIn(self->trees, tree) < 0 && PyList_Insert(self->trees, 0, (PyObject*)tree) < 0) return NULL;
  return DropTrees(self->trees, kMaxTrees) ? Py_NewRef(Py_None) : NULL;
}

static bool Remove(PyObject* list, void* object) {
  const Py_ssize_t index = IndexIn(list, object);
  return index < 0 || PyList_SetSlice(list, index, index + 1, NULL) == 0;
}

static PyObject* Unlearn(PyObject* object, PyObject* kind) {
  if (!IsKind(kind)) return NULL;
  Tree* tree = Retain(((Kind*)kind)->tree);
  const bool is_removed = Remove(tree->kinds, kind);
  const bool is_last = tree->kinds == NULL || PyList_Size(tree->kinds) == 0;
  const bool is_done = is_removed && (!is_last || Remove(((Caller*)object)->trees, tree));
  Release(tree);
  return is_done ? PyBool_FromLong(is_last) : NULL;
}

static int ClearCaller(PyObject* object) {
  PyObject* trees = ((Caller*)object)->trees;
  ((Caller*)object)->trees = NULL;
  if (trees != NULL) DropTrees(trees, 0);
  Py_XDECREF(trees);
  return 0;
}

static PyObject* Forget(PyObject* object, PyObject* ignored) {
  (void)ignored;
  ClearCaller(object);
  return Py_NewRef(Py_None);
}

/* ---- the type ---- */

/* Classes of Python that derive from it have arguments of their own. */
static PyObject* NewCaller(PyTypeObject* type, PyObject* arguments, PyObject* named) {
  return PyType_GenericNew(type, arguments, named);
}

static int VisitCaller(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(((Caller*)object)->trees);
  return 0;
}

static void FreeCaller(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  PyObject_GC_UnTrack(object);
  ClearCaller(object);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF(type);
}

bool AddCallerType(PyObject* module) {
  static PyMethodDef methods[] = {
      {"_learn", Learn, METH_O, "calls of a Kind need no Python code from now on"},
      {"_unlearn", Unlearn, METH_O, "the opposite; whether its Tree has no Kind any more"},
      {"_forget", Forget, METH_NOARGS, "the opposite for all kinds"},
      {NULL},
  };
  static PyType_Slot slots[] = {{Py_tp_new, (void*)NewCaller},
                                {Py_tp_call, (void*)Call},
                                {Py_tp_traverse, (void*)VisitCaller},
                                {Py_tp_clear, (void*)ClearCaller},
                                {Py_tp_dealloc, (void*)FreeCaller},
                                {Py_tp_methods, methods},
                                {0, NULL}};
  static PyType_Spec spec = {"ricci_calls.Caller", sizeof(Caller), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
  PyObject* type = PyType_FromSpec(&spec);
  const bool is_added = type != NULL && PyModule_AddObjectRef(module, "Caller", type) == 0;
  Py_XDECREF(type);
  return is_added;
}

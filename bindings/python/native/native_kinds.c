/* Kinds of calls; see native_kinds.h. */
#include "native_kinds.h"

enum { kMaxClasses = 64 }; /* that are known to be converted; they are kept as long as the process */

PyTypeObject* kind_type;

/* ---- types of leaves ---- */

static uint64_t Mixed(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
  return hash ^ hash >> 32;
}

static uint64_t MixedType(uint64_t hash, PyObject* dtype, int rank, const Py_ssize_t* shape) {
  hash = Mixed(Mixed(hash, (uintptr_t)dtype), (uint64_t)rank);
  for (int i = 0; i < rank; ++i) hash = Mixed(hash, (uint64_t)shape[i]);
  return hash;
}

static uint64_t HashOfKind(const Kind* kind) {
  uint64_t hash = 0;
  for (Py_ssize_t i = 0; i < kind->tree->n_leaves; ++i) {
    const ArrayType* type = &kind->target->types[i];
    if (kind->numbers[i] != kNoNumber) hash = Mixed(hash, kind->numbers[i]);
    if (kind->numbers[i] == kNoNumber) hash = MixedType(hash, type->dtype, type->rank, type->shape);
  }
  return hash;
}

/* False if a leaf is a number that no kind takes. */
static bool HashOfLeaves(PyObject* const* leaves, Py_ssize_t n, uint64_t* out) {
  uint64_t hash = 0;
  for (Py_ssize_t i = 0; i < n; ++i) {
    const ArrayFields* fields = FieldsOf(leaves[i]);
    NumberKind number = kNoNumber;
    if (IsArray(leaves[i])) {
      hash = MixedType(hash, fields->dtype, fields->rank, fields->shape);
      continue;
    }
    if (!ReadNumberKind(leaves[i], &number)) return false;
    hash = number == kNoNumber ? MixedType(hash, native_host.bool_dtype, 0, NULL) : Mixed(hash, number);
  }
  *out = hash;
  return true;
}

static bool TakesLeaf(const Kind* kind, Py_ssize_t i, PyObject* leaf) {
  const ArrayType* type = &kind->target->types[i];
  if (IsArray(leaf)) return kind->numbers[i] == kNoNumber && HasType(FieldsOf(leaf), type);
  NumberKind number = kNoNumber;
  if (!ReadNumberKind(leaf, &number) || number != kind->numbers[i]) return false;
  return number != kNoNumber || (type->dtype == native_host.bool_dtype && type->rank == 0);
}

static bool TakesLeaves(const Kind* kind, PyObject* const* leaves) {
  for (Py_ssize_t i = 0; i < kind->tree->n_leaves; ++i) {
    if (!TakesLeaf(kind, i, leaves[i])) return false;
  }
  return true;
}

/* The package decides by the class of a leaf, and is asked once for each. */
Outcome ConvertLeaf(PyObject** leaf) {
  PyObject* type = (PyObject*)Py_TYPE(*leaf);
  NumberKind number;
  if (IsArray(*leaf) || ReadNumberKind(*leaf, &number)) return kDone;
  const bool is_known = PyDict_GetItemWithError(native_host.converted, type) != NULL;
  if (!is_known && PyErr_Occurred()) return DropException();
  PyObject* by = is_known ? native_host.asarray : native_host.convert;
  PyObject* made = PyObject_CallFunctionObjArgs(by, *leaf, NULL);
  if (made == NULL) return DropException();
  if (!IsArray(made)) return Py_DECREF(made), kUnusual;
  const bool is_new = !is_known && PyDict_Size(native_host.converted) < kMaxClasses;
  if (is_new && PyDict_SetItem(native_host.converted, type, Py_None) < 0) return Py_DECREF(made), kRaised;
  Py_DECREF(*leaf);
  *leaf = made;
  return kDone;
}

Kind* FindKind(Tree* tree, PyObject* const* leaves) {
  uint64_t hash;
  if (!HashOfLeaves(leaves, tree->n_leaves, &hash)) return NULL;
  const Py_ssize_t n = tree->kinds == NULL ? 0 : PyList_Size(tree->kinds);
  for (Py_ssize_t i = 0; i < n; ++i) {
    Kind* kind = (Kind*)PyList_GetItem(tree->kinds, i);
    if (kind->numbers == NULL || kind->hash != hash || !TakesLeaves(kind, leaves)) continue;
    PyObject* first = Py_NewRef(PyList_GetItem(tree->kinds, 0));
    PyList_SetItem(tree->kinds, 0, Retain(kind)); /* the one that was used last is looked at first */
    PyList_SetItem(tree->kinds, i, first);
    return kind;
  }
  return NULL;
}

/* ---- runs ---- */

/* The array that Python makes of leaf number i, in its place. */
static Outcome Prepare(Kind* kind, PyObject* caller, Py_ssize_t i, PyObject** leaf) {
  if (ConvertLeaf(leaf) == kRaised) return kRaised;
  if (TakesArray(kind->target, i, *leaf)) return kDone;

  PyObject* number = PyLong_FromSsize_t(i);
  if (number == NULL) return kRaised;
  PyObject* made = PyObject_CallMethodObjArgs(caller, native_host.prepared_name, kind->executable, number, *leaf, NULL);
  Py_DECREF(number);
  if (made == NULL) return DropException();
  if (!TakesArray(kind->target, i, made)) return Py_DECREF(made), kUnusual;
  Py_DECREF(*leaf);
  *leaf = made;
  return kDone;
}

/* What a run gets from its arguments. */
typedef struct {
  void** pointers;
  double (*elements)[2]; /* of numbers of Python */
  Py_buffer* views;      /* memory that leaves lend; made when the first one does */
  Py_ssize_t n_views;
} Bound;

/* Memory of an array of another class, without an array of NumPy in between. kUnusual: it does not lend what is needed.
 */
static Outcome BindBuffer(const Target* target, Py_ssize_t i, PyObject* leaf, Bound* out) {
  if (target->donated[i] || PyDict_GetItemWithError(native_host.converted, (PyObject*)Py_TYPE(leaf)) == NULL) {
    return PyErr_Occurred() ? DropException() : kUnusual;
  }
  if (out->views == NULL) out->views = PyMem_Calloc((size_t)target->n_params, sizeof *out->views);
  if (out->views == NULL) return PyErr_NoMemory(), kRaised;
  Py_buffer* view = &out->views[out->n_views];
  if (PyObject_GetBuffer(leaf, view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) < 0) return DropException();
  if (!IsBufferOf(view, &target->types[i])) return PyBuffer_Release(view), kUnusual;
  ++out->n_views;
  out->pointers[i] = view->buf;
  return kDone;
}

static Outcome BindLeaf(Kind* kind, PyObject* caller, Py_ssize_t i, PyObject** leaf, Bound* out) {
  const Target* target = kind->target;
  const ArrayType* type = &target->types[i];
  Outcome found = TakesArray(target, i, *leaf) ? kDone : kUnusual;
  if (found != kDone && type->rank == 0 && !target->donated[i] && WriteNumber(*leaf, type, out->elements[i])) {
    out->pointers[i] = out->elements[i];
    return kDone;
  }
  if (found != kDone) {
    found = BindBuffer(target, i, *leaf, out);
    if (found != kUnusual) return found;
    found = Prepare(kind, caller, i, leaf);
  }
  if (found == kDone) out->pointers[i] = FieldsOf(*leaf)->data;
  return found;
}

static Outcome RunBound(Kind* kind, void** pointers, PyObject* const* leaves, PyObject** results, PyObject** result) {
  Outcome found = RunTarget(kind->target, pointers, leaves, results);
  if (found != kDone) return found;
  *result = BuildTree(kind->output, results);
  for (Py_ssize_t i = 0; i < kind->target->n_results; ++i) Py_DECREF(results[i]);
  return *result == NULL ? kRaised : kDone;
}

Outcome RunKind(Kind* kind, PyObject* caller, PyObject** leaves, PyObject** result) {
  const Py_ssize_t n_params = kind->target->n_params, n_results = kind->target->n_results;
  Room pointers, elements, results;
  Bound bound = {.pointers = Reserve(&pointers, (size_t)(n_params + n_results), sizeof(void*)),
                 .elements = Reserve(&elements, (size_t)n_params, 2 * sizeof(double))};
  void* made = Reserve(&results, (size_t)n_results, sizeof(PyObject*));
  Outcome found = bound.pointers == NULL || bound.elements == NULL || made == NULL ? kRaised : kDone;
  for (Py_ssize_t i = 0; i < n_params && found == kDone; ++i) found = BindLeaf(kind, caller, i, &leaves[i], &bound);
  if (found == kDone) found = RunBound(kind, bound.pointers, leaves, made, result);
  kind->is_used |= found == kDone;
  for (Py_ssize_t i = 0; i < bound.n_views; ++i) PyBuffer_Release(&bound.views[i]);
  PyMem_Free(bound.views);
  ReleaseRoom(&pointers);
  ReleaseRoom(&elements);
  ReleaseRoom(&results);
  return found;
}

/* ---- the type ---- */

static bool ReadNumberKinds(PyObject* numbers, Kind* out) {
  if (numbers == Py_None) return true;
  const Py_ssize_t n = PyList_Size(numbers);
  if (n != out->tree->n_leaves)
    return PyErr_Format(PyExc_ValueError, "Kind: a number for each leaf is expected"), false;
  out->numbers = PyMem_Calloc((size_t)n + 1, 1);
  if (out->numbers == NULL) return PyErr_NoMemory(), false;
  for (Py_ssize_t i = 0; i < n; ++i) out->numbers[i] = (uint8_t)PyLong_AsLong(PyList_GetItem(numbers, i));
  out->hash = HashOfKind(out);
  return PyErr_Occurred() == NULL;
}

/* Kind(tree, target, output, numbers or None, executable) */
static PyObject* NewKind(PyTypeObject* type, PyObject* arguments, PyObject* named) {
  PyObject *tree, *target, *output, *numbers, *executable;
  if (named != NULL || !PyArg_ParseTuple(arguments, "O!O!O!OO", tree_type, &tree, target_type, &target, tree_type,
                                         &output, &numbers, &executable)) {
    return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "Kind takes no keywords");
  }
  if (((Tree*)tree)->n_leaves != ((Target*)target)->n_params ||
      ((Tree*)output)->n_leaves != ((Target*)target)->n_results) {
    return PyErr_Format(PyExc_ValueError, "Kind: the trees and the program have different numbers of arrays");
  }
  Kind* self = (Kind*)PyType_GenericNew(type, arguments, NULL);
  if (self == NULL) return NULL;
  self->tree = Retain(tree);
  self->target = Retain(target);
  self->output = Retain(output);
  self->executable = Py_NewRef(executable);
  if (!ReadNumberKinds(numbers, self)) Py_CLEAR(self);
  return (PyObject*)self;
}

static int VisitKind(PyObject* object, visitproc visit, void* arg) {
  const Kind* self = (Kind*)object;
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(self->tree);
  Py_VISIT(self->target);
  Py_VISIT(self->output);
  Py_VISIT(self->executable);
  return 0;
}

/* No tp_clear: every cycle through a Kind goes through the list of its Tree, which is cleared. */
static void FreeKind(PyObject* object) {
  Kind* self = (Kind*)object;
  PyTypeObject* type = Py_TYPE(object);
  PyObject_GC_UnTrack(object);
  Release(self->tree);
  Release(self->target);
  Release(self->output);
  Py_XDECREF(self->executable);
  PyMem_Free(self->numbers);
  PyObject_GC_Del(object);
  Py_DECREF(type);
}

static PyObject* TakeUsed(PyObject* object, PyObject* ignored) {
  (void)ignored;
  Kind* self = (Kind*)object;
  const bool is_used = self->is_used;
  self->is_used = false;
  return PyBool_FromLong(is_used);
}

bool AddKindType(PyObject* module) {
  static PyMethodDef methods[] = {{"take_used", TakeUsed, METH_NOARGS, "was it used since it was asked last?"}, {NULL}};
  static PyType_Slot slots[] = {{Py_tp_new, (void*)NewKind},
                                {Py_tp_traverse, (void*)VisitKind},
                                {Py_tp_dealloc, (void*)FreeKind},
                                {Py_tp_methods, methods},
                                {0, NULL}};
  static PyType_Spec spec = {"ricci_calls.Kind", sizeof(Kind), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots};
  kind_type = (PyTypeObject*)PyType_FromSpec(&spec);
  return kind_type != NULL && PyModule_AddObjectRef(module, "Kind", (PyObject*)kind_type) == 0;
}

/* Trees of leaves; see native_trees.h. */
#include "native_trees.h"

#include <string.h>

PyTypeObject* tree_type;

/* ---- out of a value ---- */

typedef struct {
  const Tree* tree;
  Py_ssize_t node, n_leaves; /* the next ones */
  PyObject** leaves;
} Cursor;

static Outcome TakeNode(Cursor* c, PyObject* value);

/* A child keeps its value alive itself: Python code that runs meanwhile may take it out of its container. */
static Outcome TakeChild(Cursor* c, PyObject* child) {
  if (child == NULL) return PyErr_Occurred() ? DropException() : kUnusual;
  Py_INCREF(child);
  const Outcome found = TakeNode(c, child);
  Py_DECREF(child);
  return found;
}

static Outcome TakeLeaf(Cursor* c, PyObject* value) {
  PyTypeObject* type = Py_TYPE(value);
  if (type == &PyTuple_Type || type == &PyList_Type || type == &PyDict_Type || value == Py_None) return kUnusual;
  c->leaves[c->n_leaves++] = Py_NewRef(value);
  return kDone;
}

static Outcome TakeTuple(Cursor* c, PyObject* value, Py_ssize_t size) {
  if (PyTuple_Size(value) != size) return kUnusual;
  Outcome found = kDone;
  for (Py_ssize_t i = 0; i < size && found == kDone; ++i) found = TakeChild(c, PyTuple_GetItem(value, i));
  return found;
}

static Outcome TakeList(Cursor* c, PyObject* value, Py_ssize_t size) {
  Outcome found = PyList_Size(value) == size ? kDone : kUnusual;
  for (Py_ssize_t i = 0; i < size && found == kDone; ++i) found = TakeChild(c, PyList_GetItem(value, i));
  return found;
}

static Outcome TakeDict(Cursor* c, PyObject* value, const Node* node) {
  Outcome found = PyDict_Size(value) == node->size ? kDone : kUnusual;
  for (Py_ssize_t i = 0; i < node->size && found == kDone; ++i) {
    found = TakeChild(c, PyDict_GetItemWithError(value, PyTuple_GetItem(node->data, i)));
  }
  return found;
}

static Outcome IsEqual(PyObject* x, PyObject* y) {
  const int equal = PyObject_RichCompareBool(x, y, Py_EQ);
  return equal < 0 ? DropException() : equal ? kDone : kUnusual;
}

static Outcome TakeCustom(Cursor* c, PyObject* value, const Node* node) {
  PyObject* opened = PyObject_CallFunctionObjArgs(node->flatten, value, NULL);
  PyObject *parts, *data;
  if (opened == NULL || !PyArg_ParseTuple(opened, "OO", &parts, &data)) {
    Py_XDECREF(opened);
    return DropException();
  }
  Outcome found = IsEqual(data, node->data);
  PyObject* children = found == kDone ? PySequence_Tuple(parts) : NULL;
  if (found == kDone) found = children == NULL ? DropException() : TakeTuple(c, children, node->size);
  Py_XDECREF(children);
  Py_DECREF(opened);
  return found;
}

/* As a dict of Python compares keys. */
static Outcome IsStaticValue(PyObject* value, const Node* node) {
  if ((PyObject*)Py_TYPE(value) != node->class) return kUnusual;
  if (value == node->data) return kDone;
  const Py_hash_t hash = PyObject_Hash(value);
  if (hash == -1) return DropException();
  return hash == node->hash ? IsEqual(node->data, value) : kUnusual;
}

static Outcome TakeNode(Cursor* c, PyObject* value) {
  const Node* node = &c->tree->nodes[c->node++];
  PyTypeObject* type = Py_TYPE(value);
  switch (node->kind) {
    case kLeaf:
      return TakeLeaf(c, value);
    case kNone:
      return value == Py_None ? kDone : kUnusual;
    case kTuple:
      return type == &PyTuple_Type ? TakeTuple(c, value, node->size) : kUnusual;
    case kList:
      return type == &PyList_Type ? TakeList(c, value, node->size) : kUnusual;
    case kDict:
      return type == &PyDict_Type ? TakeDict(c, value, node) : kUnusual;
    case kNamed:
      return (PyObject*)type == node->class ? TakeTuple(c, value, node->size) : kUnusual;
    case kStatic:
      return IsStaticValue(value, node);
    case kCustom:
      if (node->class != NULL && (PyObject*)type != node->class) return kUnusual;
      return TakeCustom(c, value, node);
  }
  return kUnusual;
}

Outcome TakeLeaves(Tree* tree, PyObject* arguments, PyObject* named, PyObject** leaves, Py_ssize_t* n) {
  Cursor c = {tree, 0, 0, leaves};
  Outcome found = TakeNode(&c, arguments);
  if (found == kDone && named != NULL) found = TakeNode(&c, named);
  if (found == kDone && named == NULL && tree->nodes[c.node].size != 0) found = kUnusual;
  *n = c.n_leaves;
  return found;
}

/* ---- into a value ---- */

typedef struct {
  const Tree* tree;
  Py_ssize_t node;
  PyObject* const* leaves; /* the next one */
} Source;

static PyObject* BuildNode(Source* s);

/* Fills `made`, a new tuple or list or NULL, by its SetItem, which takes the child. */
static PyObject* BuildItems(Source* s, PyObject* made, Py_ssize_t size,
                            int (*set)(PyObject* made, Py_ssize_t i, PyObject* child)) {
  for (Py_ssize_t i = 0; i < size && made != NULL; ++i) {
    PyObject* child = BuildNode(s);
    if (child == NULL) Py_CLEAR(made);
    if (child != NULL) set(made, i, child);
  }
  return made;
}
static PyObject* BuildTuple(Source* s, Py_ssize_t size) {
  return BuildItems(s, PyTuple_New(size), size, PyTuple_SetItem);
}
static PyObject* BuildList(Source* s, Py_ssize_t size) { return BuildItems(s, PyList_New(size), size, PyList_SetItem); }

static PyObject* BuildDict(Source* s, const Node* node) {
  PyObject* made = PyDict_New();
  for (Py_ssize_t i = 0; i < node->size && made != NULL; ++i) {
    PyObject* child = BuildNode(s);
    if (child == NULL || PyDict_SetItem(made, PyTuple_GetItem(node->data, i), child) < 0) Py_CLEAR(made);
    Py_XDECREF(child);
  }
  return made;
}

static PyObject* BuildNamed(Source* s, const Node* node) {
  PyObject* parts = BuildTuple(s, node->size);
  PyObject* made = parts == NULL ? NULL : PyObject_Call(node->class, parts, NULL);
  Py_XDECREF(parts);
  return made;
}

static PyObject* BuildCustom(Source* s, const Node* node) {
  PyObject* parts = BuildList(s, node->size);
  PyObject* made = parts == NULL ? NULL : PyObject_CallFunctionObjArgs(node->unflatten, node->data, parts, NULL);
  Py_XDECREF(parts);
  return made;
}

static PyObject* BuildNode(Source* s) {
  const Node* node = &s->tree->nodes[s->node++];
  switch (node->kind) {
    case kLeaf:
      return Py_NewRef(*s->leaves++);
    case kNone:
      return Py_NewRef(Py_None);
    case kTuple:
      return BuildTuple(s, node->size);
    case kList:
      return BuildList(s, node->size);
    case kDict:
      return BuildDict(s, node);
    case kNamed:
      return BuildNamed(s, node);
    case kCustom:
      return BuildCustom(s, node);
    case kStatic:
      return Py_NewRef(node->data);
  }
  return NULL;
}

PyObject* BuildTree(Tree* tree, PyObject* const* leaves) {
  Source s = {tree, 0, leaves};
  return BuildNode(&s);
}

/* ---- the type ---- */

static bool ReadNode(PyObject* item, Node* out) {
  int kind = 0;
  PyObject* first = PyTuple_GetItem(item, 0);
  if (first == NULL || (kind = (int)PyUnicode_ReadChar(first, 0)) < 0) return false;
  out->kind = (NodeKind)kind;
  switch (out->kind) {
    case kLeaf:
    case kNone:
      return PyArg_ParseTuple(item, "O", &first);
    case kTuple:
    case kList:
      return PyArg_ParseTuple(item, "On", &first, &out->size);
    case kDict:
      if (!PyArg_ParseTuple(item, "OO!", &first, &PyTuple_Type, &out->data)) return false;
      out->size = PyTuple_Size(out->data);
      return true;
    case kNamed:
      return PyArg_ParseTuple(item, "OnO", &first, &out->size, &out->class);
    case kCustom:
      if (!PyArg_ParseTuple(item, "OnOOOO", &first, &out->size, &out->class, &out->data, &out->flatten,
                            &out->unflatten)) {
        return false;
      }
      if (out->class == Py_None) out->class = NULL;
      return true;
    case kStatic:
      if (!PyArg_ParseTuple(item, "OO", &first, &out->data)) return false;
      out->class = (PyObject*)Py_TYPE(out->data);
      out->hash = PyObject_Hash(out->data);
      return out->hash != -1;
  }
  return PyErr_Format(PyExc_ValueError, "no kind of node: %R", first), false;
}

static bool ReadNodes(PyObject* items, Tree* out) {
  const Py_ssize_t n = PyList_Size(items);
  out->nodes = PyMem_Calloc((size_t)n + 1, sizeof *out->nodes);
  if (out->nodes == NULL) return PyErr_NoMemory(), false;
  for (; out->n_nodes < n; ++out->n_nodes) {
    Node* node = &out->nodes[out->n_nodes];
    if (!ReadNode(PyList_GetItem(items, out->n_nodes), node)) return false;
    Py_XINCREF(node->class);
    Py_XINCREF(node->data);
    Py_XINCREF(node->flatten);
    Py_XINCREF(node->unflatten);
    out->n_leaves += node->kind == kLeaf;
  }
  return true;
}

static PyObject* NewTree(PyTypeObject* type, PyObject* arguments, PyObject* named) {
  PyObject* items;
  if (named != NULL || !PyArg_ParseTuple(arguments, "O!", &PyList_Type, &items)) {
    return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "Tree takes a list of nodes");
  }
  Tree* self = (Tree*)PyType_GenericNew(type, arguments, NULL);
  if (self != NULL && (!ReadNodes(items, self) || (self->kinds = PyList_New(0)) == NULL)) Py_CLEAR(self);
  return (PyObject*)self;
}

static int VisitTree(PyObject* object, visitproc visit, void* arg) {
  const Tree* self = (Tree*)object;
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(self->kinds);
  for (Py_ssize_t i = 0; i < self->n_nodes; ++i) {
    Py_VISIT(self->nodes[i].class);
    Py_VISIT(self->nodes[i].data);
    Py_VISIT(self->nodes[i].flatten);
    Py_VISIT(self->nodes[i].unflatten);
  }
  return 0;
}

/* A cycle goes through the kinds: nodes keep what they have, since a call may be using them. */
static int ClearTree(PyObject* object) {
  Py_CLEAR(((Tree*)object)->kinds);
  return 0;
}

static void FreeTree(PyObject* object) {
  Tree* self = (Tree*)object;
  PyTypeObject* type = Py_TYPE(object);
  PyObject_GC_UnTrack(object);
  ClearTree(object);
  for (Py_ssize_t i = 0; i < self->n_nodes; ++i) {
    Py_XDECREF(self->nodes[i].class);
    Py_XDECREF(self->nodes[i].data);
    Py_XDECREF(self->nodes[i].flatten);
    Py_XDECREF(self->nodes[i].unflatten);
  }
  PyMem_Free(self->nodes);
  PyObject_GC_Del(object);
  Py_DECREF(type);
}

bool AddTreeType(PyObject* module) {
  static PyType_Slot slots[] = {{Py_tp_new, (void*)NewTree},
                                {Py_tp_traverse, (void*)VisitTree},
                                {Py_tp_clear, (void*)ClearTree},
                                {Py_tp_dealloc, (void*)FreeTree},
                                {0, NULL}};
  static PyType_Spec spec = {"ricci_calls.Tree", sizeof(Tree), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots};
  tree_type = (PyTypeObject*)PyType_FromSpec(&spec);
  return tree_type != NULL && PyModule_AddObjectRef(module, "Tree", (PyObject*)tree_type) == 0;
}

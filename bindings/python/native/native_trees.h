/* native_trees.h: the structure of arguments or results: leaves are taken out of a value of that structure, or put in.
 *
 * A Tree is a list of nodes in preorder, each before its children, made from what `described` of the package says
 * (ricci/calls/described.py): a tuple per node, whose first item is its kind. Classes of the user are opened and made
 * by the functions of Python that they were registered with.
 */
#ifndef RICCI_PYTHON_NATIVE_TREES_H
#define RICCI_PYTHON_NATIVE_TREES_H

#include "native_host.h"

typedef enum {
  kLeaf = '*',
  kNone = 'N',
  kTuple = 'T',  /* size */
  kList = 'L',   /* size */
  kDict = 'D',   /* keys, a tuple */
  kNamed = 'P',  /* size, class: a named tuple */
  kCustom = 'C', /* size, class (None: any), data, flatten(x) -> (children, data), unflatten(data, children) */
  kStatic = 'S', /* value: a static argument, no child and no leaf */
} NodeKind;

typedef struct {
  NodeKind kind;
  Py_ssize_t size; /* how many children */
  PyObject* class; /* NULL if there is none */
  PyObject* data;  /* keys of a dict, data of a custom node, value of a static argument */
  PyObject* flatten;
  PyObject* unflatten;
  Py_hash_t hash; /* of a static value */
} Node;

typedef struct {
  PyObject object;
  Node* nodes;
  Py_ssize_t n_nodes, n_leaves;
  PyObject*
      kinds; /* of a tree of arguments: the list of what calls with it may be (native_callers.h), last used first */
} Tree;

extern PyTypeObject* tree_type; /* made by AddTreeType */
bool AddTreeType(PyObject* module);

/* Takes the leaves out of the arguments of a call; `named` may be NULL. `leaves` has room for all; *n says how many new
 * references are there, whatever the outcome. kUnusual: it is another structure. */
Outcome TakeLeaves(Tree* tree, PyObject* arguments, PyObject* named, PyObject** leaves, Py_ssize_t* n);

/* The value with these leaves (borrowed), in which they are kept; NULL with an exception set. */
PyObject* BuildTree(Tree* tree, PyObject* const* leaves);

#endif

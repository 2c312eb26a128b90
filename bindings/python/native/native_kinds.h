/* native_kinds.h: one kind of call: a structure and types of arguments, and the compiled program for them.
 *
 * A kind of `jit` is chosen by the types of the leaves, numbers of Python by what they are by themselves. An imported
 * function and an executable have one kind, which takes what can be converted: `numbers` is NULL then.
 */
#ifndef RICCI_PYTHON_NATIVE_KINDS_H
#define RICCI_PYTHON_NATIVE_KINDS_H

#include "native_targets.h"
#include "native_trees.h"

typedef struct {
  PyObject object;
  Tree* tree;           /* of the arguments */
  Target* target;       /* whose parameters are the leaves of `tree` */
  Tree* output;         /* of the results */
  uint8_t* numbers;     /* by leaf: a NumberKind; NULL if types do not matter */
  uint64_t hash;        /* of the types */
  PyObject* executable; /* what `_prepared` of the caller gets */
  bool is_used;         /* since somebody asked */
} Kind;

extern PyTypeObject* kind_type; /* made by AddKindType */
bool AddKindType(PyObject* module);

/* Puts an array of NumPy in the place of a leaf that is none and no number of Python. */
Outcome ConvertLeaf(PyObject** leaf);

/* The kind of `tree` that takes these leaves, borrowed; NULL if none does. `leaves` are arrays and numbers of Python.
 */
Kind* FindKind(Tree* tree, PyObject* const* leaves);

/* Runs it on leaves, which prepared ones replace, and builds the result. */
Outcome RunKind(Kind* kind, PyObject* caller, PyObject** leaves, PyObject** result);

#endif

/* native_targets.h: a compiled program, run on arrays of NumPy that are passed by address.
 *
 * What ricci/calls/executable.py does with ctypes. A Target keeps the executable, its context and calls that are bound
 * and free; a run takes one of these, so several threads may run one Target at once. The interpreter's lock is not held
 * during a run; the arguments are, by the references of the caller.
 */
#ifndef RICCI_PYTHON_NATIVE_TARGETS_H
#define RICCI_PYTHON_NATIVE_TARGETS_H

#include "native_arrays.h"

typedef struct {
  PyObject object;
  ricci_executable* executable; /* owned */
  PyObject* context;            /* which lives as long as its executables */
  ArrayType* types;             /* of parameters, then of results */
  int32_t* aliases;             /* by result: the donated argument whose memory it takes over, or -1 */
  bool* donated;                /* by parameter */
  Py_ssize_t n_params, n_results;
  ricci_call** calls; /* free ones, with room for all that were made */
  Py_ssize_t n_free, n_made;
} Target;

extern PyTypeObject* target_type; /* made by AddTargetType */
bool AddTargetType(PyObject* module);

/* Can the code use `x` for parameter i as it is? */
static inline bool TakesArray(const Target* target, Py_ssize_t i, PyObject* x) {
  return IsUsable(x, &target->types[i], kContiguous | kAligned | (target->donated[i] ? kWriteable : 0));
}

/* Runs it on `pointers`, with room for one per parameter and per result. `arrays` are the arguments where they are
 * arrays: results may be these. `results` gets new references, and is not written to if kRaised is returned. */
Outcome RunTarget(Target* target, void** pointers, PyObject* const* arrays, PyObject** results);

#endif

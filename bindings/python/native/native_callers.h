/* native_callers.h: the base of what can be called: `jit`, imported functions, executables.
 *
 * A call is matched with the kinds that the Python code has taught it (`_learn`). Everything else (another structure or
 * type, a trace or limits of the thread, a value that must be converted first) is a call of `_call(arguments, named)`,
 * which is the whole behaviour of the class; what happens here is only faster. So the extension decides nothing, and
 * only Python code raises messages: tests/python/calling_table.py runs with it and without, and gives the same text.
 * Leaves are arrays of NumPy, numbers, and what numpy.asarray makes arrays of (ricci.Array, arrays of JAX).
 */
#ifndef RICCI_PYTHON_NATIVE_CALLERS_H
#define RICCI_PYTHON_NATIVE_CALLERS_H

#include "native_host.h"

bool AddCallerType(PyObject* module);

#endif

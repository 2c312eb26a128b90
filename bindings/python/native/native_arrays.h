/* native_arrays.h: arrays of NumPy as memory: their fields, new ones, and numbers of Python as elements.
 *
 * The first fields of an array are part of NumPy's binary interface, the same in NumPy 1 and 2, and
 * PyArray_NewFromDescr has the same place in its table of functions. TakeArrayInterface compares both with what Python
 * says of samples.
 */
#ifndef RICCI_PYTHON_NATIVE_ARRAYS_H
#define RICCI_PYTHON_NATIVE_ARRAYS_H

#include "native_host.h"

enum { kMaxRank = 64, kContiguous = 0x1, kAligned = 0x100, kWriteable = 0x400 }; /* NPY_MAXDIMS, NPY_ARRAY_* */

typedef struct {
  PyObject object;
  char* data;
  int rank;
  Py_ssize_t* shape;
  Py_ssize_t* strides;
  PyObject* base;
  PyObject* dtype;
  int flags;
} ArrayFields;

/* The type of an argument or result. Element types are compared by identity: NumPy has one object for each, and a copy
 * of it, or one with another byte order, is unusual. */
typedef struct {
  PyObject* dtype; /* owned */
  Py_ssize_t* shape;
  int rank;
  char kind; /* as dtype.kind; `V` for other types than numbers of C */
  int bytes; /* of an element */
} ArrayType;

/* Reads (dtype, shape); false with an exception set. FreeArrayType also frees one that is all zeros. */
bool ReadArrayType(PyObject* pair, ArrayType* out);
void FreeArrayType(ArrayType* type);

static inline bool IsArray(PyObject* x) { return Py_TYPE(x) == native_host.array_type; }
static inline const ArrayFields* FieldsOf(PyObject* array) { return (const ArrayFields*)array; }

bool HasType(const ArrayFields* array, const ArrayType* type);
/* Has it this type, and can compiled code use it as it is? `flags`: those that it needs. */
bool IsUsable(PyObject* x, const ArrayType* type, int flags);
/* The same for memory that another object lends. */
bool IsBufferOf(const Py_buffer* view, const ArrayType* type);
/* A new array, uninitialised; NULL with an exception set. */
PyObject* NewArray(const ArrayType* type);

/* What a number of Python is by itself: the weak types of the package. kNoNumber: it is none, or a bool, which is like
 * an array of NumPy. */
typedef enum { kNoNumber, kInt32, kInt64, kFloat, kComplex } NumberKind;
/* False if it is a number that no dtype holds or that is unusual. */
bool ReadNumberKind(PyObject* x, NumberKind* out);
/* A number of Python, or a bool, as an element of `type`, a scalar. False if the element would not be exact where it
 * must be, or overflows: then Python converts, warns or raises. */
bool WriteNumber(PyObject* x, const ArrayType* type, void* element);

/* Takes NumPy's table (a capsule) and compares the layout with samples, a list of (array, address, shape, dtype,
 * flags). False with ImportError set. */
bool TakeArrayInterface(PyObject* table, PyObject* samples);

#endif

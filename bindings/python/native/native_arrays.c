/* Arrays of NumPy as memory; see native_arrays.h. */
#include "native_arrays.h"

#include <math.h>
#include <string.h>

/* Places in the table of NumPy's functions, and its versions in which they are these (NPY_VERSION). */
enum { kGetVersion = 0, kNewFromDescr = 94 };
static const unsigned kVersions[] = {0x01000009, 0x02000000};

typedef PyObject* (*NewFromDescr)(PyTypeObject* subtype, PyObject* descr, int rank, const Py_ssize_t* shape,
                                  const Py_ssize_t* strides, void* data, int flags, PyObject* object);
static NewFromDescr new_from_descr; /* written by TakeArrayInterface alone */

/* ---- types ---- */

static bool ReadShape(PyObject* shape, ArrayType* out) {
  const Py_ssize_t rank = PyTuple_Size(shape);
  if (rank < 0) return false;
  if (rank > kMaxRank) return PyErr_Format(PyExc_ValueError, "%zd dimensions", rank), false;
  out->shape = PyMem_Calloc((size_t)rank + 1, sizeof *out->shape);
  if (out->shape == NULL) return PyErr_NoMemory(), false;
  out->rank = (int)rank;
  for (Py_ssize_t i = 0; i < rank; ++i) out->shape[i] = PyLong_AsSsize_t(PyTuple_GetItem(shape, i));
  return PyErr_Occurred() == NULL;
}

static bool ReadElement(PyObject* dtype, ArrayType* out) {
  PyObject* kind = PyObject_GetAttrString(dtype, "kind");
  PyObject* bytes = PyObject_GetAttrString(dtype, "itemsize");
  if (kind != NULL && bytes != NULL) {
    out->kind = (char)PyUnicode_ReadChar(kind, 0);
    out->bytes = (int)PyLong_AsLong(bytes);
  }
  Py_XDECREF(kind);
  Py_XDECREF(bytes);
  return PyErr_Occurred() == NULL;
}

bool ReadArrayType(PyObject* pair, ArrayType* out) {
  PyObject *dtype, *shape;
  if (!PyArg_ParseTuple(pair, "OO!", &dtype, &PyTuple_Type, &shape)) return false;
  out->dtype = Py_NewRef(dtype);
  return ReadElement(dtype, out) && ReadShape(shape, out);
}

void FreeArrayType(ArrayType* type) {
  Py_CLEAR(type->dtype);
  PyMem_Free(type->shape);
  type->shape = NULL;
}

bool HasType(const ArrayFields* array, const ArrayType* type) {
  if (array->dtype != type->dtype || array->rank != type->rank) return false;
  for (int i = 0; i < type->rank; ++i) {
    if (array->shape[i] != type->shape[i]) return false;
  }
  return true;
}

bool IsUsable(PyObject* x, const ArrayType* type, int flags) {
  return IsArray(x) && HasType(FieldsOf(x), type) && (FieldsOf(x)->flags & flags) == flags;
}

/* The format of PEP 3118 of one element: the width is that of the element. */
static bool IsFormatOf(const char* format, char kind) {
  if (format == NULL) return false;
  if (*format == '@' || *format == '=' || *format == '<') ++format;
  if (kind == 'c') return strcmp(format, "Zf") == 0 || strcmp(format, "Zd") == 0;
  const char* letters = kind == 'f' ? "efd" : kind == 'i' ? "bhilq" : kind == 'u' ? "BHILQ" : kind == 'b' ? "?" : "";
  return *format != 0 && format[1] == 0 && strchr(letters, *format) != NULL;
}

bool IsBufferOf(const Py_buffer* view, const ArrayType* type) {
  if (view->ndim != type->rank || view->itemsize != type->bytes || !IsFormatOf(view->format, type->kind)) return false;
  for (int i = 0; i < type->rank; ++i) {
    if (view->shape[i] != type->shape[i]) return false;
  }
  return (uintptr_t)view->buf % (size_t)type->bytes == 0;
}

PyObject* NewArray(const ArrayType* type) {
  Py_INCREF(type->dtype); /* which the call takes */
  return new_from_descr(native_host.array_type, type->dtype, type->rank, type->shape, NULL, NULL, 0, NULL);
}

/* ---- numbers of Python ---- */

bool ReadNumberKind(PyObject* x, NumberKind* out) {
  PyTypeObject* type = Py_TYPE(x);
  *out = type == &PyFloat_Type ? kFloat : type == &PyComplex_Type ? kComplex : kNoNumber;
  if (*out != kNoNumber || type == &PyBool_Type) return true;
  if (type != &PyLong_Type) return false;
  int overflow;
  const long long value = PyLong_AsLongLongAndOverflow(x, &overflow);
  *out = value == (int32_t)value ? kInt32 : kInt64;
  return overflow == 0;
}

/* The integer that an int or a bool is. */
static bool ReadInteger(PyObject* x, long long* out) {
  if (Py_TYPE(x) != &PyLong_Type && Py_TYPE(x) != &PyBool_Type) return false;
  int overflow;
  *out = PyLong_AsLongLongAndOverflow(x, &overflow);
  return overflow == 0;
}

static bool WriteInteger(long long value, bool is_signed, int bytes, void* element) {
  if (!is_signed && value < 0) return false;
  const int bits = 8 * bytes - (is_signed ? 1 : 0); /* of the magnitude */
  if (bits < 63 && (value >= 1LL << bits || value < -(1LL << bits))) return false;
  memcpy(element, &value, (size_t)bytes); /* little endian, as all targets of the package are */
  return true;
}

/* False if a finite number becomes infinite, of which NumPy warns. */
static bool WriteFloat(double value, int bytes, void* element) {
  if (bytes == 8) return memcpy(element, &value, 8), true;
  const float narrow = (float)value;
  if (bytes != 4 || (isinf(narrow) && !isinf(value))) return false;
  return memcpy(element, &narrow, 4), true;
}

/* An integer is rounded once, from all of its digits. */
static bool WriteWholeFloat(long long value, int bytes, void* element) {
  const float narrow = (float)value;
  const double wide = (double)value;
  memcpy(element, bytes == 4 ? (const void*)&narrow : &wide, (size_t)bytes);
  return bytes == 4 || bytes == 8;
}

static bool WriteReal(PyObject* x, int bytes, void* element) {
  long long whole;
  if (bytes != 4 && bytes != 8) return false;
  if (Py_TYPE(x) == &PyFloat_Type) return WriteFloat(PyFloat_AsDouble(x), bytes, element);
  return ReadInteger(x, &whole) && WriteWholeFloat(whole, bytes, element);
}

static bool WriteComplex(PyObject* x, int bytes, char* element) {
  const int half = bytes / 2;
  if (Py_TYPE(x) == &PyComplex_Type) {
    return WriteFloat(PyComplex_RealAsDouble(x), half, element) &&
           WriteFloat(PyComplex_ImagAsDouble(x), half, element + half);
  }
  memset(element, 0, (size_t)bytes);
  return WriteReal(x, half, element);
}

bool WriteNumber(PyObject* x, const ArrayType* type, void* element) {
  long long whole;
  switch (type->kind) {
    case 'f':
      return WriteReal(x, type->bytes, element);
    case 'c':
      return WriteComplex(x, type->bytes, element);
    case 'i':
      return ReadInteger(x, &whole) && WriteInteger(whole, /*is_signed=*/true, type->bytes, element);
    case 'u':
      return ReadInteger(x, &whole) && WriteInteger(whole, /*is_signed=*/false, type->bytes, element);
    case 'b':
      return ReadInteger(x, &whole) && (whole == 0 || whole == 1) && WriteInteger(whole, true, 1, element);
    default:
      return false;
  }
}

/* ---- NumPy's interface ---- */

static bool HasLayout(PyObject* sample) {
  PyObject *array, *dtype, *shape;
  unsigned long long address;
  int flags;
  if (!PyArg_ParseTuple(sample, "O!KO!Oi", native_host.array_type, &array, &address, &PyTuple_Type, &shape, &dtype,
                        &flags)) {
    return false;
  }
  const ArrayFields* fields = FieldsOf(array);
  bool same = fields->data == (char*)(uintptr_t)address && fields->rank == PyTuple_Size(shape) &&
              fields->dtype == dtype && fields->flags == flags;
  for (int i = 0; same && i < fields->rank; ++i) {
    same = fields->shape[i] == PyLong_AsSsize_t(PyTuple_GetItem(shape, i));
  }
  if (!same) PyErr_SetString(PyExc_ImportError, "arrays of this NumPy have another layout in memory");
  return same;
}

bool TakeArrayInterface(PyObject* table, PyObject* samples) {
  void** functions = PyCapsule_GetPointer(table, NULL);
  if (functions == NULL) return false;
  const unsigned version = ((unsigned (*)(void))functions[kGetVersion])();
  bool is_known = false;
  for (size_t i = 0; i < sizeof kVersions / sizeof *kVersions; ++i) is_known |= version == kVersions[i];
  if (!is_known) return PyErr_Format(PyExc_ImportError, "NumPy has version %x of its ABI", version), false;
  new_from_descr = (NewFromDescr)functions[kNewFromDescr];
  for (Py_ssize_t i = 0; i < PyList_Size(samples); ++i) {
    if (!HasLayout(PyList_GetItem(samples, i))) return false;
  }
  return true;
}

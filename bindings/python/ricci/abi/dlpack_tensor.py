"""Tensors of DLPack and their capsules, by ctypes: the structs are those of dlpack.h, of version 1 and before it.

A capsule is `dltensor_versioned`, or `dltensor` for those who ask for no version. A consumer that takes its tensor
renames it. `collect` deletes the tensor of a capsule that was not taken, once it holds the only reference. A destructor
would do that at once, but one in Python loses the exception for which a consumer drops the capsule: what ctypes calls
may not return while there is one. Deleters of tensors that are made here run on any thread.
"""
import contextlib
import ctypes
import itertools
import sys

from .from_c import plain_function
from .library import Error

CODES = {"b": 6, "i": 0, "u": 1, "f": 2, "c": 5}  # DLDataTypeCode by NumPy's kind
READ_ONLY, IS_COPIED = 1, 2  # DLPACK_FLAG_BITMASK_*
VERSIONED, LEGACY = b"dltensor_versioned", b"dltensor"

_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p),
                ("byte_offset", ctypes.c_uint64)]


class _Managed(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("manager_ctx", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", _Tensor)]


class _Legacy(ctypes.Structure):
    _fields_ = [("tensor", _Tensor), ("manager_ctx", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


def _function(name, result, *parameters):
    return ctypes.PYFUNCTYPE(result, *parameters)((name, ctypes.pythonapi))


_new_capsule = _function("PyCapsule_New", ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_pointer_in = _function("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
_is_valid = _function("PyCapsule_IsValid", ctypes.c_int, ctypes.py_object, ctypes.c_char_p)
_rename = _function("PyCapsule_SetName", ctypes.c_int, ctypes.py_object, ctypes.c_char_p)

_kept, _numbers = {}, itertools.count(1)  # tensors made here, with what they point to, by manager_ctx
_given = []  # capsules made here


def _delete(address, kind):
    deleter = kind.from_address(address).deleter
    if deleter:
        _Deleter(deleter)(address)


def _count_alone():
    """What getrefcount says of what only a local variable has; that differs between versions of Python."""
    capsule = object()
    return sys.getrefcount(capsule)


_ALONE = _count_alone()


def collect():
    """Deletes the tensors of capsules that were not taken and have no other reference."""
    others = []
    while _given:
        try:
            capsule = _given.pop()
        except IndexError:  # another thread took the last one
            break
        if sys.getrefcount(capsule) > _ALONE:
            others.append(capsule)
            continue
        for name, kind in ((VERSIONED, _Managed), (LEGACY, _Legacy)):
            if _is_valid(capsule, name):
                _delete(_pointer_in(capsule, name), kind)
    _given.extend(others)


def _capsule(address, name):
    collect()
    capsule = _new_capsule(address, name, None)
    _given.append(capsule)
    return capsule


def _deleter(function):
    return plain_function(_Deleter, function)


@_deleter
def _drop_managed(address):
    _kept.pop(_Managed.from_address(address).manager_ctx, None)


@_deleter
def _drop_legacy(address):
    """Of a tensor that stands for a versioned one, which goes too."""
    _, versioned = _kept.pop(_Legacy.from_address(address).manager_ctx)
    _delete(versioned, _Managed)


@_deleter
def _drop_versioned(address):
    """The other way round."""
    _, legacy = _kept.pop(_Managed.from_address(address).manager_ctx)
    _delete(legacy, _Legacy)


def _keep(tensor, held):
    tensor.manager_ctx = next(_numbers)
    _kept[tensor.manager_ctx] = tensor, held
    return ctypes.addressof(tensor)


def _address_of(function):
    return ctypes.cast(function, ctypes.c_void_p).value


def capsule_of(versioned, is_versioned):
    """A capsule of the tensor at address `versioned`, which it owns; one of before version 1 unless `is_versioned`."""
    if is_versioned:
        return _capsule(versioned, VERSIONED)
    legacy = _Legacy(tensor=_Managed.from_address(versioned).tensor, deleter=_address_of(_drop_legacy))
    return _capsule(_keep(legacy, versioned), LEGACY)


def mark_copied(capsule):
    """Says that what is in a capsule is a copy, which may be changed; one of before version 1 has no flags."""
    if _is_valid(capsule, VERSIONED):
        _Managed.from_address(_pointer_in(capsule, VERSIONED)).flags = IS_COPIED


def tensor_of(owner, data, device, dtype, shape, strides, read_only):
    """The address of a tensor over memory of `owner`, which lives until the tensor is deleted. Strides in bytes."""
    shape = tuple(shape)
    if strides is not None and any(s % dtype.itemsize for s in strides):
        raise Error(f"asarray: strides {tuple(strides)} are not whole elements of {dtype}")
    numbers = (ctypes.c_int64 * len(shape))
    dims = numbers(*shape)
    steps = None if strides is None else numbers(*(s // dtype.itemsize for s in strides))
    tensor = _Managed(major=1, minor=1, deleter=_address_of(_drop_managed), flags=READ_ONLY if read_only else 0)
    tensor.tensor = _Tensor(data=data, device_type=device[0], device_id=device[1], ndim=len(shape),
                            code=CODES[dtype.kind], bits=8 * dtype.itemsize, lanes=1, shape=ctypes.addressof(dims),
                            strides=None if steps is None else ctypes.addressof(steps))
    return _keep(tensor, (owner, dims, steps))


@contextlib.contextmanager
def owned(tensor):
    """Deletes the tensor if the block fails, since it has no other owner then."""
    try:
        yield
    except BaseException:
        _delete(tensor, _Managed)
        raise


@contextlib.contextmanager
def taken(capsule):
    """The versioned tensor in a capsule, which is taken out of it if what is done with it succeeds."""
    name = VERSIONED if _is_valid(capsule, VERSIONED) else LEGACY
    if not _is_valid(capsule, name):
        raise Error("asarray: __dlpack__ gave no capsule of a tensor that is still in it")
    address = _pointer_in(capsule, name)
    if name == VERSIONED:
        yield address
        _rename(capsule, b"used_dltensor_versioned")
        return
    tensor = _Legacy.from_address(address).tensor
    versioned = _Managed(major=1, minor=0, deleter=_address_of(_drop_versioned), tensor=tensor)
    stand_in = _keep(versioned, address)
    try:
        yield stand_in
    except BaseException:
        _kept.pop(versioned.manager_ctx)
        raise
    _rename(capsule, b"used_dltensor")

"""Calls of libcuda by ctypes, without Ricci and without a toolkit: what kernels.py needs."""
import ctypes

import numpy as np

VERSION = 12000  # of the functions, as plugins/cuda/driver/driver.cc asks
U16, SWIZZLE_128, PROMOTE_256, SHARED_MOST = 1, 3, 3, 8  # numbers of cuda.h


class Driver:
    """The first GPU with its context and a stream. What the driver refuses is a RuntimeError with the call."""

    def __init__(self, path):
        library = ctypes.CDLL(path)
        self._get, self._found = library.cuGetProcAddress_v2, {}
        self.context, self.stream, self.pool = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        device = ctypes.c_int()
        self.call("cuInit", 0)
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), device)
        self.call("cuCtxPushCurrent", self.context)
        self.call("cuStreamCreate", ctypes.byref(self.stream), 1)
        properties = (ctypes.c_int * 22)(1, 0, 1, 0)  # CUmemPoolProps: pinned, for no other process, of device 0
        self.call("cuMemPoolCreate", ctypes.byref(self.pool), properties)

    def call(self, name, *arguments):
        if name not in self._found:
            address, how = ctypes.c_void_p(), ctypes.c_int()
            self._get(name.encode(), ctypes.byref(address), VERSION, ctypes.c_uint64(0), ctypes.byref(how))
            if not address.value:
                raise RuntimeError(f"the driver has no {name}")
            self._found[name] = ctypes.CFUNCTYPE(ctypes.c_int)(address.value)
        if result := self._found[name](*arguments):
            raise RuntimeError(f"{name} gives {result}")

    def allocate(self, bytes_):
        out = ctypes.c_uint64()
        self.call("cuMemAllocFromPoolAsync", ctypes.byref(out), ctypes.c_size_t(bytes_), self.pool, self.stream)
        return out

    def to_device(self, array):
        array, out = np.ascontiguousarray(array), self.allocate(array.nbytes)
        self.call("cuMemcpyHtoDAsync", out, ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes), self.stream)
        self.wait()
        return out

    def to_host(self, address, like):
        out = np.empty_like(like)
        self.call("cuMemcpyDtoHAsync", ctypes.c_void_p(out.ctypes.data), address, ctypes.c_size_t(out.nbytes), self.stream)
        self.wait()
        return out

    def free(self, address):
        self.call("cuMemFreeAsync", address, self.stream)

    def wait(self):
        self.call("cuStreamSynchronize", self.stream)

    def load(self, image, entry, shared_bytes):
        """The kernel `entry` of machine code, which may be launched with so much dynamic shared memory."""
        module, kernel = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), image)
        self.call("cuModuleGetFunction", ctypes.byref(kernel), module, entry.encode())
        if shared_bytes:
            self.call("cuFuncSetAttribute", kernel, SHARED_MOST, shared_bytes)
        return kernel

    def tensor_map(self, address, inner, outer, box):
        """Of a matrix of 16-bit elements, which is copied in boxes of (inner, outer)."""
        raw = (ctypes.c_char * 384)()
        at = ctypes.c_void_p((ctypes.addressof(raw) + 127) // 128 * 128)
        self.call("cuTensorMapEncodeTiled", at, U16, 2, ctypes.c_void_p(address.value), (ctypes.c_uint64 * 2)(inner, outer),
                  (ctypes.c_uint64 * 1)(inner * 2), (ctypes.c_uint32 * 2)(*box), (ctypes.c_uint32 * 2)(1, 1), 0, SWIZZLE_128,
                  PROMOTE_256, 0)
        return raw, at

    def launch(self, kernel, blocks, threads, shared_bytes, addresses, maps=()):
        pointers = [ctypes.addressof(a) for a in addresses] + [at.value for _, at in maps]
        self.call("cuLaunchKernel", kernel, blocks, 1, 1, threads, 1, 1, shared_bytes, self.stream,
                  (ctypes.c_void_p * len(pointers))(*pointers), None)

    def microseconds(self, work, times):
        """The least time of `work` between two events."""
        events = [ctypes.c_void_p() for _ in range(2)]
        for event in events:
            self.call("cuEventCreate", ctypes.byref(event), 0)
        taken = []
        for _ in range(times):
            self.call("cuEventRecord", events[0], self.stream)
            work()
            self.call("cuEventRecord", events[1], self.stream)
            self.call("cuEventSynchronize", events[1])
            milliseconds = ctypes.c_float()
            self.call("cuEventElapsedTime", ctypes.byref(milliseconds), *events)
            taken.append(milliseconds.value * 1e3)
        for event in events:
            self.call("cuEventDestroy", event)
        return min(taken)

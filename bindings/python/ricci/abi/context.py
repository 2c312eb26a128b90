"""The context: plugins, devices, options; the root of all programs.

Most programs need one, `default_context()`, which is made on first use.
"""
import collections
import ctypes
import os
import sys
import threading

from . import _abi
from . import arguments as given
from . import dlpack_tensor as dlpack
from .callbacks import add_callback
from .from_c import address_of, plain_function
from .installation import find
from .library import CPU_PLUGIN, Error, handle, lib, not_pickled, struct, text_of
from .nvidia import library_folders
from .user_line import user_location


CUDA_PLUGIN = b"libricci_plugin_cuda"


def _write(_, level, text, length):
    if sys.stderr is not None:  # the interpreter may be ending
        print(ctypes.string_at(text, length).decode(errors="replace"), file=sys.stderr, flush=True)


_log = plain_function(ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_size_t), _write)
_hooks = struct(_abi.ricci_hooks, log=address_of(_log))  # they live as long as the process, as contexts may


class Context:
    """A context with the built-in primitives and the backends `cpu` and `ref`; its log goes to stderr.

    `plugins` are paths of shared objects to load too; `options` those of ricci_context_config (threads, vmap, ...), also
    those of plugins (`**{"cuda.arch": "sm_90a"}`), all set before any plugin is added.
    """

    _handle, streams = None, {}  # until there are some, and where the arguments of __init__ are refused

    def __init__(self, plugins=(), **options):
        self._types, self._shapes, self._primitives = {}, {}, {}
        self.names_libraries = False  # the host, where the compiler of the plugin cuda may be
        self.rows, self.executables = {}, collections.OrderedDict()  # of primitives by name; of programs that were run
        self.streams = {}  # by device: those in which arrays are handed over, one thread at a time
        self.lock = threading.RLock()
        self.callbacks, self.rule_names = [], {}  # what C calls as long as the context lives; names of batching rules
        created = handle()
        with_log = struct(_abi.ricci_context_opts, hooks=ctypes.addressof(_hooks))
        lib.ricci_context_create(ctypes.byref(with_log), ctypes.byref(created))
        self._handle = created
        for key, value in options.items():
            self.config(key, value)
        for rows in (lib.ricci_plugin_query_lax, lib.ricci_plugin_query_nn):
            lib.ricci_context_add_plugin(self._handle, ctypes.cast(rows, ctypes.c_void_p))
        plugins = given.items("Context", "plugins", plugins, "paths")
        self.used = None  # (file, line) that compiled its first program
        for path in (find(CPU_PLUGIN), *plugins):
            self._load("Context", path)

    def _load(self, function, path):
        path = os.fsencode(given.path(function, path))
        if CUDA_PLUGIN in os.path.basename(path) and not self.names_libraries:
            if folders := library_folders():
                self.config("cuda.libraries", ":".join(folders))
        lib.ricci_context_load_plugin(self._handle, path, len(path))

    def add_plugin(self, path, **options):
        """Loads a plugin, after setting options of it (`**{"cuda.arch": "sm_90a"}`), before the context compiles its first
        program: what is compiled does not change. Not while another thread uses the context."""
        if self.used is not None:
            raise Error(f"add_plugin: {os.fspath(path)} comes too late: the context has compiled a program since "
                        f"{_shown(self.used)}; add plugins before, or make a Context of its own (jit(context=...))")
        for key, value in options.items():
            self.config(key, value)
        self._load("add_plugin", path)
        self.rows.clear()

    def __del__(self):
        for stream in self.streams.values():
            lib.ricci_stream_release(stream)
        if self._handle:
            lib.ricci_context_release(self._handle)

    __reduce__ = not_pickled("a Context", "make another one where it is needed")

    def __repr__(self):
        return f"<Context with devices {', '.join(self.devices)}>"

    def config(self, key, value):
        """Sets one option of ricci_context_config."""
        self.names_libraries |= key == "cuda.libraries"
        key, value = given.text("config", "key", key).encode(), str(value).encode()
        lib.ricci_context_config(self._handle, key, len(key), value, len(value))

    def device(self, kind=None):
        """A device by kind (`cpu`, `ref`, `cuda`) or name (`cuda:1`), the best one if None."""
        if kind is None:
            return lib.ricci_device_get(self._handle, 0)
        given.text("device", "kind", kind)
        found = lib.ricci_device_find(self._handle, kind.encode(), len(kind.encode()))
        if not found:
            raise ValueError(f"no device {kind!r}; this context has {', '.join(self.devices)}"
                             " (others are plugins: ricci.Context([path]))")
        return found

    def memory_stats(self, device=None):
        """Bytes of a device's memory as a dict: in use, the most that were, reserved, the limit; and allocations."""
        dlpack.collect()
        stats = struct(_abi.ricci_memory_stats)
        lib.ricci_device_memory_stats(self.device(device), ctypes.byref(stats))
        return {name: getattr(stats, name) for name, _ in stats._fields_ if name != "hdr"}

    def set_memory_limit(self, limit, device=None):
        """More than `limit` bytes in use on a device is an Error from now on; 0: no limit."""
        dlpack.collect()
        limit = given.integer("set_memory_limit", "limit", limit, given.UINT64)
        lib.ricci_device_set_memory_limit(self.device(device), limit)

    def trim(self, keep=0, device=None):
        """Gives what a device keeps but does not use back to the system, down to `keep` bytes."""
        dlpack.collect()
        lib.ricci_device_trim(self.device(device), given.integer("trim", "keep", keep, given.UINT64))

    def add_callback(self, name, function):
        """Makes a Python function known as `name` to the operations pure_callback, io_callback and debug_callback.

        It is called with a NumPy array for each operand, possibly on another thread, and gives an array, several or
        None, as the program's `results` says. What it raises, the call of the program raises.
        """
        if not callable(function):
            raise given.wrong_type("add_callback", "function", function, "a function is")
        add_callback(self, given.text("add_callback", "name", name), function)

    @property
    def devices(self):
        """The names of its devices, best first: the kind, with a number where there are several of it."""
        kinds = []
        for i in range(lib.ricci_device_count(self._handle)):
            info = _abi.ricci_device_desc()
            info.hdr.size = ctypes.sizeof(info)
            lib.ricci_device_info(lib.ricci_device_get(self._handle, i), ctypes.byref(info))
            kinds.append((text_of(info.kind), info.ordinal))
        several = {kind for kind, ordinal in kinds if ordinal > 0}
        return [f"{kind}:{ordinal}" if kind in several else kind for kind, ordinal in kinds]

    def type(self, dtype, shape):
        """The number of an array type."""
        number = self._types.get((dtype, shape))
        if number is None:
            made = ctypes.c_uint32()
            shape = tuple(given.integers("type", "shape", shape))
            dtype = given.integer("type", "dtype", dtype, given.UINT32)
            dims = (ctypes.c_int64 * len(shape))(*shape)
            desc = _abi.ricci_type_desc(dtype=dtype, rank=len(shape), dims=ctypes.addressof(dims))
            desc.hdr.size = ctypes.sizeof(desc)
            lib.ricci_type_make(self._handle, ctypes.byref(desc), ctypes.byref(made))
            number = self._types[dtype, shape] = made.value
        return number

    def dtype_and_shape(self, type_number):
        """What the number of an array type stands for."""
        found = self._shapes.get(type_number)
        if found is None:
            desc = _abi.ricci_type_desc()
            desc.hdr.size = ctypes.sizeof(desc)
            lib.ricci_type_get(self._handle, type_number, ctypes.byref(desc))
            shape = tuple((ctypes.c_int64 * desc.rank).from_address(desc.dims)) if desc.rank else ()
            found = self._shapes[type_number] = desc.dtype, shape
        return found

    def primitive(self, name):
        """The number of a primitive; Error if there is none of that name."""
        number = self._primitives.get(name)
        if number is None:
            found = ctypes.c_uint32()
            given.text("primitive", "name", name)
            lib.ricci_prim_find(self._handle, name.encode(), len(name.encode()), ctypes.byref(found))
            number = self._primitives[name] = found.value
        return number

    def has_primitive(self, name):
        try:
            return bool(self.primitive(name))
        except Error:
            return False


_default, _since, _lock = None, None, threading.Lock()


def default_context():
    """The context that everything uses unless it is given another: that of `set_default_context`, else a new one."""
    global _default, _since
    if _default is None:
        with _lock:
            if _default is None:
                _default, _since = Context(), user_location()
    return _default


def set_default_context(context):
    """Makes `context` the one that everything uses unless it is given another, once, before anything is computed or
    traced."""
    global _default, _since
    given.instance("set_default_context", "context", context, Context)
    with _lock:
        if _default is not None:
            raise Error(f"set_default_context: there is a default context since {_shown(_since)}; set it before anything is "
                        "computed or traced, or give the other one to jit(context=...)")
        _default, _since = context, user_location()


def add_plugin(path, **options):
    """`Context.add_plugin` of the default context."""
    default_context().add_plugin(path, **options)


def _shown(location):
    return f"{location[0]}:{location[1]}" if location[0] else "the start"

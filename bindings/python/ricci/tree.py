"""Trees of arrays: tuples, lists, dicts, named tuples, None and registered classes around leaves, as by jax.tree."""
from .calls.user_trees import (Structure, all, flatten, leaves, leaves_with_path, map, map_with_path, reduce,  # noqa: A004
                         register_dataclass, register_node, register_node_class, structure, transpose, unflatten)

__all__ = """all flatten leaves leaves_with_path map map_with_path reduce register_dataclass register_node
             register_node_class structure transpose unflatten Structure""".split()

"""Products whose results are exact, each against the same product in f32: product_programs.py OUT [MOST]

Factors are small whole numbers, so the sums are whole numbers that f32 holds. Of each row a program gives the largest
difference, which is 0, and the largest result, which is not. No dimension is above MOST.

Names say how the factors lie, `k` along the sum, `m` along rows or columns: km is the usual product.
"""
import pathlib
import sys

# Sizes (rows, columns, length of sums) that take different ways: tiles, edges, lines of boxes, warps, odd addresses,
# pairs of blocks.
SIZES = {"128x64": (1024, 1024, 320), "128x128": (1536, 1536, 256), "64x64": (1024, 512, 1024),
         "edges": (1000, 1000, 1000), "lines64": (1024, 1024, 24), "lines32": (1024, 1024, 16),
         "warps": (512, 384, 320), "odd": (1001, 1003, 1001), "pairs": (2048, 2048, 1088),
         "pairs_edges": (2000, 2040, 1064)}
FACTORS = {"lhs": (5, 7, 11), "rhs": (13, 3, 17)}  # of the indices, so that neighbours differ in each dimension
MODULI = {"f8e4m3fn": (17, 15), "f8e5m2": (9, 7)}  # what so few digits hold
MODULUS = (61, 59)


class Text:
    """Equations; each method adds one and gives its value."""

    def __init__(self):
        self.lines, self.types = [], {"%seed": "i32[]"}

    def add(self, name, dtype, shape, operation):
        type_ = f"{dtype}[{','.join(map(str, shape))}]"
        self.types[f"%{name}"] = type_
        self.lines.append(f"  %{name}: {type_} = {operation}")
        return f"%{name}"

    def all(self, name, shape, value):
        """An i32 everywhere."""
        one = value if isinstance(value, str) else self.add(f"{name}_one", "i32", (), f"constant {value}")
        text = ",".join(map(str, shape))
        return self.add(name, "i32", shape, f"broadcast_in_dim({one}) shape=[{text}] broadcast_dimensions=[]")

    def binary(self, name, shape, operation, x, y, dtype="i32"):
        return self.add(name, dtype, shape, f"{operation}({x}, {y})")

    def convert(self, name, shape, x, dtype):
        return self.add(name, dtype, shape, f"convert_element_type({x}) new_dtype={dtype}")


def whole_numbers(t, side, shape, modulus, lowest):
    """lowest + (seed + a sum of the indices with factors) % modulus."""
    total = t.all(f"{side}_seed", shape, "%seed")
    for i, factor in enumerate(FACTORS[side][:len(shape)]):
        text = ",".join(map(str, shape))
        index = t.add(f"{side}_index{i}", "i32", shape, f"iota() dtype=i32 shape=[{text}] dimension={i}")
        part = t.binary(f"{side}_part{i}", shape, "mul", index, t.all(f"{side}_factor{i}", shape, factor))
        total = t.binary(f"{side}_sum{i}", shape, "add", total, part)
    rest = t.binary(f"{side}_rest", shape, "rem", total, t.all(f"{side}_modulus", shape, modulus))
    return t.binary(f"{side}_number", shape, "add", rest, t.all(f"{side}_lowest", shape, lowest))


def largest(t, name, shape, x):
    size = t.add(f"{name}_size", "f32", shape, f"abs({x})")
    return t.add(name, "f32", shape[:-1], f"reduce_max({size}) axes=[{len(shape) - 1}]")


def product(kind, rows, columns, length, ways="km", batch=0, moduli=None, rounded=None):
    """The text of a program; `kind`: the dtype of the factors, or tf32; `rounded`: that of both results, if not f32."""
    sizes = {"lhs": [rows, length] if ways[0] == "k" else [length, rows],
             "rhs": [length, columns] if ways[1] == "m" else [columns, length]}
    contract = {"lhs": int(ways[0] == "k"), "rhs": int(ways[1] != "m")}
    first = [batch] if batch else []
    batches = "[0]" if batch else "[]"
    t, exact, given = Text(), {}, {}
    for side, modulus in zip(sizes, moduli or MODULI.get(kind, MODULUS)):
        shape = first + sizes[side]
        number = whole_numbers(t, side, shape, modulus, 0 if kind == "u8" else -(modulus // 2))
        exact[side] = t.convert(f"{side}_f32", shape, number, "f32")
        given[side] = exact[side] if kind in ("f32", "tf32") else t.convert(side, shape, number, kind)
    dims = " ".join([f"{s}_contract=[{contract[s] + len(first)}]" for s in sizes] + [f"{s}_batch={batches}" for s in sizes])
    shape, sums = first + [rows, columns], "i32" if kind in ("i8", "u8") else "f32"
    precision = ' precision="TF32_TF32_F32"' if kind == "tf32" else ""
    have = t.add("have", sums, shape, f"dot_general({given['lhs']}, {given['rhs']}) {dims} preferred_element_type={sums}"
                                      f"{precision}")
    have = have if sums == "f32" else t.convert("have_f32", shape, have, "f32")
    want = t.add("want", "f32", shape, f"dot_general({exact['lhs']}, {exact['rhs']}) {dims} preferred_element_type=f32")
    if rounded:  # behind a barrier, so that the product itself stores it
        kept = t.add("have_kept", rounded, shape, f"optimization_barrier({t.convert('have_rounded', shape, have, rounded)})")
        have = t.convert("have_wide", shape, kept, "f32")
        want = t.convert("want_wide", shape, t.convert("want_rounded", shape, want, rounded), "f32")
    difference = largest(t, "difference", shape, t.binary("apart", shape, "sub", have, want, "f32"))
    results = f"  return {difference}, {largest(t, 'result', shape, have)}\n"
    return "program product(%seed: i32[]) {\n" + "\n".join(t.lines) + "\n" + results + "}\n"


def programs():
    """Name and text of each."""
    for ways in "km", "kk", "mm", "mk":
        for name, sizes in SIZES.items():
            yield f"bf16_{ways}_{name}", ("bf16", *sizes, ways)
        yield f"bf16_{ways}_batch", ("bf16", 512, 512, 128, ways, 4)
        yield f"f16_{ways}_128x128", ("f16", *SIZES["128x128"], ways)
    yield "bf16_km_parts", ("bf16", 128, 128, 65536, "km", 0, (11, 5))
    yield "bf16_km_tall", ("bf16", 16, 4096, 512)
    yield "bf16_km_narrow", ("bf16", 4096, 16, 1024)
    yield "bf16_km_square", ("bf16", 2048, 2048, 2048)
    for rounded, moduli in ("bf16", None), ("f16", (11, 5)):  # whose largest number is 65504
        for name in "pairs", "pairs_edges":
            yield f"bf16_km_{name}_to_{rounded}", ("bf16", *SIZES[name], "km", 0, moduli, rounded)
    for kind in "i8", "u8", "tf32", "f8e4m3fn", "f8e5m2":
        for ways in "km", "mk":
            yield f"{kind}_{ways}", (kind, *SIZES["128x64"], ways)
    yield "f32_km", ("f32", *SIZES["warps"])


def main():
    out, most = pathlib.Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1 << 20
    out.mkdir(parents=True, exist_ok=True)
    for name, (kind, *sizes) in programs():
        sizes[:3] = [min(size, most) for size in sizes[:3]]
        (out / f"{name}.ricci").write_text(product(kind, *sizes))


if __name__ == "__main__":
    main()

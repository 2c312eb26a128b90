"""Programs that become object files, each with the shapes and C types of its arguments: name, text, arguments."""
import re

STEP = "cond_nconsts=1 body_nconsts=0"


def square(n, dtype="f32"):
    return f"{dtype}[{n},{n}]"


def product(name, m, k, n, dtype="f32", rhs=0):
    b = f"{dtype}[{k},{n}]" if rhs == 0 else f"{dtype}[{n},{k}]"
    return (name, f"program {name}(%a: {dtype}[{m},{k}], %b: {b}) {{ %c: {dtype}[{m},{n}] = dot_general(%a, %b)"
                  f" lhs_contract=[1] rhs_contract=[{rhs}] return %c }}")


def cholesky(name, n, dtype):
    t = square(n, dtype)
    return (name, f"program {name}(%x: {t}) {{ %s: {t} = dot_general(%x, %x) lhs_contract=[1] rhs_contract=[1]"
                  f" %i: i32[{n},{n}] = iota() dtype=i32 shape=[{n},{n}] dimension=0"
                  f" %j: i32[{n},{n}] = iota() dtype=i32 shape=[{n},{n}] dimension=1 %e: bool[{n},{n}] = eq(%i, %j)"
                  f" %d: {t} = convert_element_type(%e) new_dtype={dtype} %a: {t} = add(%s, %d)"
                  f" %l: {t} = cholesky(%a) return %l }}")


def lu(name, m, n, dtype, batch=(), spoilt=None):
    """Spoilt: columns of zeros, and a number (NaN) below the diagonal, if there is one."""
    shape = ",".join(map(str, batch + (m, n)))
    t, ints, bools = (f"{d}[{shape}]" for d in (dtype, "i32", "bool"))
    spoil = ""
    if spoilt is not None:
        number = lambda name, v: f" %{name}: {ints} = constant {v}"
        place = lambda name, axis: f" %{name}: {ints} = iota() dtype=i32 shape=[{shape}] dimension={len(batch) + axis}"
        spoil = (place("i", 0) + place("j", 1) + number("c7", 7) + number("c3", 3) + number("row", m - 3)
                 + f" %k: {ints} = rem(%j, %c7) %p: {bools} = eq(%k, %c3) %z: {t} = constant 0.0"
                 f" %b: {t} = select_n(%p, %x, %z) %q: {bools} = eq(%i, %row) %s: {bools} = eq(%j, %c7)"
                 f" %u: {bools} = and(%q, %s) %v: {t} = constant {spoilt} %a: {t} = select_n(%u, %b, %v)")
    results = [f"{dtype}[{shape}]"] + [f"i32[{','.join(map(str, batch + (k,)))}]" for k in (min(m, n), m)]
    return (name, f"program {name}(%x: {t}) {{{spoil} %l: {results[0]}, %e: {results[1]}, %r: {results[2]} ="
                  f" lu({'%a' if spoil else '%x'}) return %l, %e, %r }}")


def convolution(name, shape, window, outputs, dtype="f32", groups=1, first=False, more=""):
    """With results of the size of lhs unless strides or dilation are in `more`; features last, or `first`."""
    inputs = shape[1] if first else shape[3]
    size = shape[2:] if first else shape[1:3]
    number = lambda key: ([int(v) for v in re.search(key + r"=\[(\d+),(\d+)\]", more).groups()] if key in more else [1, 1])
    dilation, strides = number("rhs_dilation"), number("window_strides")
    reach = [(w - 1) * d for w, d in zip(window, dilation)]
    out = tuple((n - 1) // s + 1 for n, s in zip(size, strides))
    text = lambda dims: f"{dtype}[{','.join(map(str, dims))}]"
    w = (outputs, inputs // groups) + window if first else window + (inputs // groups, outputs)
    y = (shape[0], outputs) + out if first else (shape[0],) + out + (outputs,)
    specs = "" if first else " lhs_spec=[0,3,1,2] rhs_spec=[3,2,0,1] out_spec=[0,3,1,2]"
    padding = ",".join(f"{r // 2},{r - r // 2}" for r in reach)
    return (name, f"program {name}(%x: {text(shape)}, %w: {text(w)}) {{ %y: {text(y)} = conv_general_dilated(%x, %w)"
                  f" padding=[{padding}]{specs} feature_group_count={groups} {more} return %y }}")


def eye(t, shape):
    """Ones on the diagonal of the last two dimensions, as `%d` of type t."""
    dims, rank = ",".join(map(str, shape)), len(shape)
    i = f"i32[{dims}]"
    return (f" %i: {i} = iota() dtype=i32 shape=[{dims}] dimension={rank - 2}"
            f" %j: {i} = iota() dtype=i32 shape=[{dims}] dimension={rank - 1} %e: bool[{dims}] = eq(%i, %j)"
            f" %d: {t} = convert_element_type(%e) new_dtype={t[:3]}")


def solve(name, n, left, lower, turned, batch=(), lines=33, dtype="f64", unit=False):
    """Of triangular matrices with a diagonal that makes them easy; ones that are not read are small all over."""
    a, b = batch + (n, n), batch + ((n, lines) if left else (lines, n))
    ta, tb = (f"{dtype}[{','.join(map(str, shape))}]" for shape in (a, b))
    flag = lambda v: "true" if v else "false"
    made = f"%s: {ta} = mul(%c, %d) %a: {ta} = add(%x, %s)" if not unit else f"%a: {ta} = div(%x, %c)"
    return (name, f"program {name}(%x: {ta}, %b: {tb}) {{{eye(ta, a)} %c: {ta} = constant {float(n)}"
                  f" {made} %y: {tb} = triangular_solve(%a, %b) left_side={flag(left)} lower={flag(lower)}"
                  f" transpose_a={flag(turned)} unit_diagonal={flag(unit)} return %y }}")


def lower_cholesky(name, n, batch):
    """Of matrices that are NaN above the diagonal, which must not be read."""
    t, bools = (f"{d}[{','.join(map(str, batch + (n, n)))}]" for d in ("f64", "bool"))
    return (name, f"program {name}(%x: {t}) {{{eye(t, batch + (n, n))} %c: {t} = constant {2.0 * n} %s: {t} = mul(%c, %d)"
                  f" %b: {t} = add(%x, %s) %p: {bools} = gt(%j, %i) %u: {t} = constant nan %a: {t} = select_n(%p, %b, %u)"
                  f" %l: {t} = cholesky(%a) return %l }}")


def no_factor(name, n):
    """Where the Cholesky factor of a matrix that has none is NaN; only the second half of it is at fault."""
    t, bools, ints = square(n, "f64"), square(n, "bool"), square(n, "i32")
    return (name, f"program {name}(%x: {t}) {{{eye(t, (n, n))} %k: i32[{n},{n}] = constant {n - 10}"
                  f" %p: {bools} = lt(%i, %k) %z: {t} = constant -1.0 %s: {t} = select_n(%p, %z, %d)"
                  f" %a: {t} = mul(%s, %d) %l: {t} = cholesky(%a) %q: {bools} = ne(%l, %l)"
                  f" %r: {ints} = convert_element_type(%q) new_dtype=i32 return %r }}")


def narrow_product(name, t, m, k, n, more=""):
    """Of small whole numbers, so that only the result may be rounded, and must be to the nearest, ties to even."""
    result = "f32" if more else t
    return (name, f"program {name}(%x: f32[{m},{k}], %y: f32[{k},{n}]) {{ %e: f32[{m},{k}] = constant 8.0"
                  f" %f: f32[{m},{k}] = mul(%x, %e) %g: f32[{m},{k}] = floor(%f) %a: {t}[{m},{k}] = convert_element_type(%g)"
                  f" new_dtype={t} %h: f32[{k},{n}] = floor(%y) %b: {t}[{k},{n}] = convert_element_type(%h) new_dtype={t}"
                  f" %c: {result}[{m},{n}] = dot_general(%a, %b) lhs_contract=[1] rhs_contract=[0] {more}"
                  f" %r: f32[{m},{n}] = convert_element_type(%c) new_dtype=f32 return %r }}")


PROGRAMS = [
    ("elementwise", "program elementwise(%x: f32[1003], %y: f32[1003]) { %a: f32[1003] = sin(%x)"
                    " %b: f32[1003] = mul(%a, %y) %c: f32[1003] = exp(%b) return %c, %a }"),
    ("special", "program special(%x: f64[67]) { %a: f64[67] = lgamma(%x) %b: f64[67] = digamma(%x) %c: f64[67] = tan(%x)"
                " %d: f64[67] = rem(%x, %c) return %a, %b, %c, %d }"),
    ("reduction", "program reduction(%x: f32[301,77]) { %r: f32[301] = reduce_sum(%x) axes=[1]"
                  " %c: f32[77] = reduce_max(%x) axes=[0] %t: f32[] = reduce_sum(%x) axes=[0,1] return %r, %c, %t }"),
    ("long_reduction", "program long_reduction(%x: f64[300000]) { %t: f64[] = reduce_sum(%x) axes=[0] return %t }"),
    ("scans", "program scans(%c: f32[], %x: f32[50,3]) { %n: f32[], %y: f32[50,3] = scan(%c, %x) length=50 num_carry=1"
              " num_consts=0 reverse=false body=program(%a: f32[], %e: f32[3]) { %s: f32[] = reduce_sum(%e) axes=[0]"
              " %t: f32[] = add(%a, %s) %b: f32[3] = broadcast_in_dim(%t) shape=[3] broadcast_dimensions=[]"
              " %m: f32[3] = mul(%b, %e) return %t, %m } return %n, %y }"),
    ("whiles", "program whiles(%x: f64[40,40]) { %n: i32[] = constant 3 %i: i32[] = constant 0"
               f" %j: i32[], %y: f64[40,40] = while(%n, %i, %x) {STEP}"
               " cond=program(%n: i32[], %i: i32[], %a: f64[40,40]) { %p: bool[] = lt(%i, %n) return %p }"
               " body=program(%i: i32[], %a: f64[40,40]) { %o: i32[] = constant 1 %k: i32[] = add(%i, %o)"
               " %t: f64[40,40] = transpose(%a) permutation=[1,0] %s: f64[40,40] = sin(%t)"
               " %b: f64[40,40] = add(%s, %a) return %k, %b } return %j, %y }"),
    ("conds", "program conds(%i: i32[], %x: f32[3]) { %y: f32[3] = cond(%i, %x) branches=[program(%x: f32[3])"
              " { %s: f32[3] = sin(%x) return %s }, program(%x: f32[3]) { %s: f32[3] = mul(%x, %x) return %s }]"
              " return %y }"),
    product("small_product", 3, 4, 5),
    product("large_product", 131, 517, 101),
    product("tall_product", 97, 65, 600, "f64"),
    product("turned_product", 70, 300, 90, "f32", rhs=1),
    ("batched_product", "program batched_product(%a: f32[5,40,33], %b: f32[5,33,41]) { %c: f32[5,40,41] ="
                        " dot_general(%a, %b) lhs_contract=[2] rhs_contract=[1] lhs_batch=[0] rhs_batch=[0] return %c }"),
    ("split_product", "program split_product(%a: f32[6,50,7,9], %b: f32[7,9,80]) { %c: f32[6,50,80] ="
                      " dot_general(%a, %b) lhs_contract=[2,3] rhs_contract=[0,1] return %c }"),
    ("repeated_products", "program repeated_products(%a: f64[40,40]) { " +
     "".join(f"%s{i}: f64[40,40] = {'dot_general(%a, %a)' if i == 0 else f'dot_general(%t{i - 1}, %a)'} lhs_contract=[1]"
             f" rhs_contract=[0] %t{i}: f64[40,40] = tanh(%s{i}) " for i in range(40)) + "return %t39 }"),
    narrow_product("narrow_product", "bf16", 67, 530, 75),
    narrow_product("narrow_product_tall", "bf16", 1001, 40, 530),
    narrow_product("narrow_product_f32", "bf16", 50, 41, 33, "preferred_element_type=f32"),
    convolution("conv_last", (2, 13, 11, 10), (3, 3), 21),
    convolution("conv_first", (2, 12, 13, 17), (3, 5), 9, first=True),
    convolution("conv_image", (1, 35, 37, 9), (3, 3), 10),  # more windows than have offsets of their own
    convolution("conv_strided", (1, 19, 16, 9), (3, 4), 70, more="window_strides=[2,3]"),
    convolution("conv_dilated", (2, 14, 15, 16), (3, 3), 33, "f64", more="rhs_dilation=[2,3]"),
    convolution("conv_grouped", (2, 11, 13, 20), (3, 3), 34, groups=2),
    cholesky("cholesky_f32", 12, "f32"),
    cholesky("cholesky_f64", 70, "f64"),
    cholesky("cholesky_blocks", 200, "f32"),
    lower_cholesky("cholesky_batch", 53, (2, 5)),
    no_factor("cholesky_none", 100),
    no_factor("cholesky_none_early", 23),
    solve("solve_left", 130, True, True, False),
    solve("solve_left_turned", 200, True, True, True),
    solve("solve_right", 130, False, False, False, (2,)),
    solve("solve_right_turned", 150, False, True, True),
    solve("solve_left_upper", 101, True, False, False, dtype="f32"),
    solve("solve_right_lower", 67, False, True, False, lines=530),
    solve("solve_left_unit", 75, True, True, False, (2,), lines=5, unit=True),
    solve("solve_right_unit", 99, False, False, True, lines=16, unit=True),
    lu("lu_small", 24, 25, "f32"),
    lu("lu_f32", 131, 131, "f32"),
    lu("lu_f64", 197, 197, "f64"),
    lu("lu_tall", 150, 67, "f64"),
    lu("lu_wide", 45, 600, "f64", (3,)),
    lu("lu_zeros", 101, 101, "f64", spoilt="9.5"),
    lu("lu_nan", 103, 103, "f64", spoilt="nan"),
    ("ffts", "program ffts(%x: f32[8,120]) { %z: c64[8,61] = fft(%x) fft_type=\"RFFT\" fft_lengths=[120]"
             " %r: f32[8,61] = real(%z) %i: f32[8,61] = imag(%z) return %z, %r, %i }"),
    ("sorts", "program sorts(%x: f32[1000]) { %y: f32[1000] = sort(%x) dimension=0 is_stable=true num_keys=1 return %y }"),
    ("threefry", "program threefry(%k0: u32[16], %k1: u32[16], %c0: u32[16], %c1: u32[16]) { %x: u32[16], %y: u32[16] ="
                 " threefry2x32(%k0, %k1, %c0, %c1) return %x, %y }"),
    ("constants", "program constants(%x: f64[40]) { %c: f64[40] = constant [" +
     ", ".join(f"{i * 0.5}" for i in range(40)) + "] %r: f64[40] = rev(%c) dimensions=[0] %y: f64[40] = mul(%x, %r)"
     " return %y, %c }"),
]
# Not for processors before x86-64-v3, which convert by calls.
F16_PROGRAMS = [narrow_product("narrow_product_f16", "f16", 67, 130, 75)]

// Elements that are found, chosen, put and sorted; sets; bits.
#include "case.h"

namespace ricci::testing {
namespace {

Values List(const Unique& u) { return {u.values, u.indices, u.inverse, u.counts}; }

const Case kCases[] = {
    {"jnp.nonzero(b, size=4)", [](const Given& g) -> Results { return nonzero(g.b, 4); }},
    {"jnp.nonzero(i, size=2, fill_value=-1)", [](const Given& g) -> Results { return nonzero(g.i, 2, -1); }},
    {"jnp.nonzero(c, size=4, fill_value=9)", [](const Given& g) -> Results { return nonzero(g.c, 4, 9); }},
    {"jnp.nonzero(e, size=2)", [](const Given& g) -> Results { return nonzero(g.e, 2); }},
    {"jnp.argwhere(b, size=4, fill_value=-1)", [](const Given& g) -> Results { return argwhere(g.b, 4, -1); }},
    {"jnp.flatnonzero(x > 0, size=5)", [](const Given& g) -> Results { return flatnonzero(g.x > 0, 5); }},
    {"jnp.compress(c, v, size=3)", [](const Given& g) -> Results { return compress(g.c, g.v, kFlat, 3); }},
    {"jnp.compress(c[:3], x, axis=1, size=2, fill_value=7)",
     [](const Given& g) -> Results { return compress(slice(g.c, 0, 3), g.x, 1, 2, 7); }},
    {"jnp.extract(b, x, size=4)", [](const Given& g) -> Results { return extract(g.b, g.x, 4); }},
    {"jnp.select([x > 2, x < 0], [y, i], 5)",
     [](const Given& g) -> Results {
       return select({g.x > 2, g.x < 0}, {g.y, g.i}, 5);
     }},
    {"jnp.choose(j[:3], [x, y, i], mode='clip')",
     [](const Given& g) -> Results {
       return choose(slice(g.j, 0, 3), {g.x, g.y, g.i}, "clip");
     }},
    {"jnp.choose(i, [x, y], mode='wrap')",
     [](const Given& g) -> Results {
       return choose(g.i, {g.x, g.y});
     }},
    {"jnp.place(x, b, v[:2], inplace=False)",
     [](const Given& g) -> Results { return place(g.x, g.b, slice(g.v, 0, 2)); }},
    {"jnp.put(x, j[1:4], v, mode='clip', inplace=False)",
     [](const Given& g) -> Results { return put(g.x, slice(g.j, 1, 4), g.v); }},
    {"jnp.put_along_axis(x, jnp.array([[1], [0]]), 9, axis=1, inplace=False)",
     [](const Given& g) -> Results {
       return put_along_axis(g.x, reshape(1 - arange(g.ctx, 2), {2, 1}), 9, 1);
     }},
    {"jnp.lexsort((v, jnp.round(v)))",
     [](const Given& g) -> Results {
       return lexsort({g.v, round(g.v)});
     }},
    {"jnp.lexsort((i[0], b[0]))",
     [](const Given& g) -> Results {
       return lexsort({index(g.i, {0}), index(g.b, {0})});
     }},
    {"jnp.partition(x, 1)[:, 1]",
     [](const Given& g) -> Results {
       return index(partition(g.x, 1), {kAll, 1});
     }},
    {"x[:, 0]",
     [](const Given& g) -> Results {
       return index(g.x, {kAll, 0});
     }},
    {"jnp.sort_complex(zv)", [](const Given& g) -> Results { return sort_complex(g.zv); }},
    {"jnp.sort(x, 0)", [](const Given& g) -> Results { return sort(g.x, 0); }},
    {"jnp.argsort(x)", [](const Given& g) -> Results { return argsort(g.x); }},
    {"jnp.unique(j, size=4)", [](const Given& g) -> Results { return unique(g.j, 4); }},
    {"jnp.unique(j, size=6, fill_value=-5)", [](const Given& g) -> Results { return unique(g.j, 6, -5); }},
    {"jnp.unique(j, size=2)", [](const Given& g) -> Results { return unique(g.j, 2); }},
    {"jnp.unique(n, size=6)", [](const Given& g) -> Results { return unique(g.n, 6); }},
    {"jnp.unique_all(j, size=4)", [](const Given& g) -> Results { return List(unique_all(g.j, 4)); }},
    {"jnp.unique_all(x > 0, size=2)", [](const Given& g) -> Results { return List(unique_all(g.x > 0, 2)); }},
    {"jnp.unique(x, return_index=True, return_inverse=True, return_counts=True, size=8, fill_value=0)",
     [](const Given& g) -> Results { return List(unique_all(g.x, 8, 0)); }},
    {"jnp.unique_counts(j, size=5)", [](const Given& g) -> Results { return unique_counts(g.j, 5); }},
    {"jnp.unique_inverse(j, size=4)", [](const Given& g) -> Results { return unique_inverse(g.j, 4); }},
    {"jnp.union1d(i, j, size=9)", [](const Given& g) -> Results { return union1d(g.i, g.j, 9); }},
    {"jnp.union1d(i, j, size=12, fill_value=99)", [](const Given& g) -> Results { return union1d(g.i, g.j, 12, 99); }},
    {"jnp.intersect1d(i, j, size=2)", [](const Given& g) -> Results { return intersect1d(g.i, g.j, 2); }},
    {"jnp.intersect1d(i, j, size=4, fill_value=-1)",
     [](const Given& g) -> Results { return intersect1d(g.i, g.j, 4, -1); }},
    {"jnp.setdiff1d(i, j, size=4)", [](const Given& g) -> Results { return setdiff1d(g.i, g.j, 4); }},
    {"jnp.setdiff1d(i, j, size=6, fill_value=-1)",
     [](const Given& g) -> Results { return setdiff1d(g.i, g.j, 6, -1); }},
    {"jnp.setxor1d(i, j, size=6)", [](const Given& g) -> Results { return setxor1d(g.i, g.j, 6); }},
    {"jnp.isin(i, j)", [](const Given& g) -> Results { return isin(g.i, g.j); }},
    {"jnp.isin(i, j, invert=True)", [](const Given& g) -> Results { return isin(g.i, g.j, true); }},
    {"jnp.packbits(k > 20)", [](const Given& g) -> Results { return packbits(g.k > 20); }},
    {"jnp.packbits(b, axis=1, bitorder='little')",
     [](const Given& g) -> Results { return packbits(g.b, 1, "little"); }},
    {"jnp.packbits(t > 0, axis=0)", [](const Given& g) -> Results { return packbits(g.t > 0, 0); }},
    {"jnp.unpackbits(k)", [](const Given& g) -> Results { return unpackbits(g.k); }},
    {"jnp.unpackbits(k[None], axis=0, count=5, bitorder='little')",
     [](const Given& g) -> Results { return unpackbits(expand_dims(g.k, 0), 0, 5, "little"); }},
    {"jnp.unpackbits(k, count=-3)", [](const Given& g) -> Results { return unpackbits(g.k, kFlat, -3); }},
};

}  // namespace

std::span<const Case> SetCases() { return kCases; }

}  // namespace ricci::testing

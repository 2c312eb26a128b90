// Rearranging, joining, splitting, repeating and padding.
#include "case.h"

namespace ricci::testing {
namespace {

const Case kCases[] = {
    {"jnp.reshape(x, (3, -1))",
     [](const Given& g) -> Results {
       return reshape(g.x, {3, -1});
     }},
    {"jnp.ravel(t)", [](const Given& g) -> Results { return ravel(g.t); }},
    {"jnp.transpose(t)", [](const Given& g) -> Results { return transpose(g.t); }},
    {"jnp.permute_dims(t, (1, 0, 2))",
     [](const Given& g) -> Results {
       return permute_dims(g.t, {1, 0, 2});
     }},
    {"jnp.swapaxes(t, 0, -1)", [](const Given& g) -> Results { return swapaxes(g.t, 0, -1); }},
    {"jnp.moveaxis(t, 0, -1)", [](const Given& g) -> Results { return moveaxis(g.t, 0, -1); }},
    {"jnp.rollaxis(t, 2)", [](const Given& g) -> Results { return rollaxis(g.t, 2); }},
    {"jnp.rollaxis(t, 0, 3)", [](const Given& g) -> Results { return rollaxis(g.t, 0, 3); }},
    {"jnp.matrix_transpose(t)", [](const Given& g) -> Results { return matrix_transpose(g.t); }},
    {"jnp.squeeze(x[None])", [](const Given& g) -> Results { return squeeze(expand_dims(g.x, 0)); }},
    {"jnp.expand_dims(x, -1)", [](const Given& g) -> Results { return expand_dims(g.x, -1); }},
    {"jnp.broadcast_to(v, (2, 4))",
     [](const Given& g) -> Results {
       return broadcast_to(g.v, {2, 4});
     }},
    {"jnp.flip(x)", [](const Given& g) -> Results { return flip(g.x); }},
    {"jnp.flip(t, (0, 2))",
     [](const Given& g) -> Results {
       return flip(g.t, {0, 2});
     }},
    {"jnp.fliplr(x)", [](const Given& g) -> Results { return fliplr(g.x); }},
    {"jnp.flipud(x)", [](const Given& g) -> Results { return flipud(g.x); }},
    {"jnp.rot90(x)", [](const Given& g) -> Results { return rot90(g.x); }},
    {"jnp.rot90(x, -1)", [](const Given& g) -> Results { return rot90(g.x, -1); }},
    {"jnp.rot90(t, 2, (1, 2))", [](const Given& g) -> Results { return rot90(g.t, 2, 1, 2); }},
    {"jnp.roll(x, 2)", [](const Given& g) -> Results { return roll(g.x, 2); }},
    {"jnp.roll(x, -1, 1)", [](const Given& g) -> Results { return roll(g.x, -1, 1); }},
    {"jnp.roll(t, (1, 2), (0, 2))",
     [](const Given& g) -> Results {
       return roll(g.t, {1, 2}, {0, 2});
     }},
    {"jnp.concatenate([x, i], 1)",
     [](const Given& g) -> Results {
       return concatenate({g.x, g.i}, 1);
     }},
    {"jnp.concat([x, y])",
     [](const Given& g) -> Results {
       return concat({g.x, g.y});
     }},
    {"jnp.stack([x, d], -1)",
     [](const Given& g) -> Results {
       return stack({g.x, g.d}, -1);
     }},
    {"jnp.hstack([v, u])",
     [](const Given& g) -> Results {
       return hstack({g.v, g.u});
     }},
    {"jnp.hstack([x, i])",
     [](const Given& g) -> Results {
       return hstack({g.x, g.i});
     }},
    {"jnp.vstack([v, v])",
     [](const Given& g) -> Results {
       return vstack({g.v, g.v});
     }},
    {"jnp.vstack([x, m])",
     [](const Given& g) -> Results {
       return vstack({g.x, g.m});
     }},
    {"jnp.dstack([x, y])",
     [](const Given& g) -> Results {
       return dstack({g.x, g.y});
     }},
    {"jnp.dstack([v, v])",
     [](const Given& g) -> Results {
       return dstack({g.v, g.v});
     }},
    {"jnp.column_stack([v, c])",
     [](const Given& g) -> Results {
       return column_stack({g.v, g.c});
     }},
    {"jnp.block([[x, y], [y, x]])",
     [](const Given& g) -> Results {
       return block({{g.x, g.y}, {g.y, g.x}});
     }},
    {"jnp.append(x, i)", [](const Given& g) -> Results { return append(g.x, g.i); }},
    {"jnp.append(x, m, 0)", [](const Given& g) -> Results { return append(g.x, g.m, 0); }},
    {"jnp.broadcast_arrays(x, w, i[0])",
     [](const Given& g) -> Results {
       return broadcast_arrays({g.x, g.w, index(g.i, {0})});
     }},
    {"jnp.meshgrid(v, u)",
     [](const Given& g) -> Results {
       return meshgrid({g.v, g.u});
     }},
    {"jnp.meshgrid(v, u, j, indexing='ij', sparse=True)",
     [](const Given& g) -> Results {
       return meshgrid({g.v, g.u, g.j}, "ij", true);
     }},
    {"jnp.meshgrid(v, u, j)",
     [](const Given& g) -> Results {
       return meshgrid({g.v, g.u, g.j});
     }},
    {"jnp.ix_(j, j[:2])",
     [](const Given& g) -> Results {
       return ix_({g.j, slice(g.j, 0, 2)});
     }},
    {"jnp.atleast_1d(w)", [](const Given& g) -> Results { return atleast_1d(g.w); }},
    {"jnp.atleast_2d(v)", [](const Given& g) -> Results { return atleast_2d(g.v); }},
    {"jnp.atleast_3d(x)", [](const Given& g) -> Results { return atleast_3d(g.x); }},
    {"jnp.atleast_3d(v)", [](const Given& g) -> Results { return atleast_3d(g.v); }},
    {"jnp.split(x, 3, 1)", [](const Given& g) -> Results { return split(g.x, 3, 1); }},
    {"jnp.split(u, [1, 3])",
     [](const Given& g) -> Results {
       return split(g.u, {1, 3});
     }},
    {"jnp.split(u, [1, 4])",
     [](const Given& g) -> Results {
       return split(g.u, {1, 4});
     }},
    {"jnp.array_split(u, 3)", [](const Given& g) -> Results { return array_split(g.u, 3); }},
    {"jnp.hsplit(x, 3)", [](const Given& g) -> Results { return hsplit(g.x, 3); }},
    {"jnp.vsplit(x, 2)", [](const Given& g) -> Results { return vsplit(g.x, 2); }},
    {"jnp.dsplit(t, 2)", [](const Given& g) -> Results { return dsplit(g.t, 2); }},
    {"jnp.unstack(x, axis=1)", [](const Given& g) -> Results { return unstack(g.x, 1); }},
    {"jnp.insert(v, 1, 9)", [](const Given& g) -> Results { return insert(g.v, 1, 9); }},
    {"jnp.insert(x, -1, 9, axis=1)", [](const Given& g) -> Results { return insert(g.x, -1, 9, 1); }},
    {"jnp.insert(x, 1, y[0], axis=0)", [](const Given& g) -> Results { return insert(g.x, 1, index(g.y, {0}), 0); }},
    {"jnp.insert(v, np.array([2, 0]), u[:2])",
     [](const Given& g) -> Results {
       return insert(g.v, {2, 0}, slice(g.u, 0, 2));
     }},
    {"jnp.delete(v, 1)", [](const Given& g) -> Results { return delete_(g.v, 1); }},
    {"jnp.delete(x, np.array([0, -1]), axis=1)",
     [](const Given& g) -> Results {
       return delete_(g.x, {0, -1}, 1);
     }},
    {"jnp.tile(x, (2, 1, 2))",
     [](const Given& g) -> Results {
       return tile(g.x, {2, 1, 2});
     }},
    {"jnp.repeat(x, 2)", [](const Given& g) -> Results { return repeat(g.x, 2); }},
    {"jnp.repeat(x, 3, -1)", [](const Given& g) -> Results { return repeat(g.x, 3, -1); }},
    {"jnp.repeat(x, 0, 0)", [](const Given& g) -> Results { return repeat(g.x, 0, 0); }},
    {"jnp.repeat(v, j[:4], total_repeat_length=6)",
     [](const Given& g) -> Results { return repeat(g.v, slice(g.j, 0, 4), kFlat, 6); }},
    {"jnp.repeat(x, j[1:4], axis=1, total_repeat_length=6)",
     [](const Given& g) -> Results { return repeat(g.x, slice(g.j, 1, 4), 1, 6); }},
    {"jnp.resize(x, (2, 5))",
     [](const Given& g) -> Results {
       return resize(g.x, {2, 5});
     }},
    {"jnp.pad(x, ((1, 0), (0, 2)))",
     [](const Given& g) -> Results {
       return pad(g.x, {{1, 0}, {0, 2}});
     }},
    {"jnp.pad(v, (2, 1), constant_values=7)",
     [](const Given& g) -> Results {
       return pad(g.v, {{2, 1}}, 7);
     }},
    {"jnp.pad(x, 1, 'constant')",
     [](const Given& g) -> Results {
       return pad(g.x, {{1, 1}}, "constant");
     }},
    {"jnp.pad(x, ((1, 2), (3, 0)), 'edge')",
     [](const Given& g) -> Results {
       return pad(g.x, {{1, 2}, {3, 0}}, "edge");
     }},
    {"jnp.pad(v, (7, 8), 'reflect')",
     [](const Given& g) -> Results {
       return pad(g.v, {{7, 8}}, "reflect");
     }},
    {"jnp.pad(x, ((1, 1), (2, 2)), 'reflect')",
     [](const Given& g) -> Results {
       return pad(g.x, {{1, 1}, {2, 2}}, "reflect");
     }},
    {"jnp.pad(v, (3, 5), 'reflect', reflect_type='odd')",
     [](const Given& g) -> Results {
       return pad(g.v, {{3, 5}}, "reflect", {.odd = true});
     }},
    {"jnp.pad(v, (6, 9), 'symmetric')",
     [](const Given& g) -> Results {
       return pad(g.v, {{6, 9}}, "symmetric");
     }},
    {"jnp.pad(v, (6, 5), 'wrap')",
     [](const Given& g) -> Results {
       return pad(g.v, {{6, 5}}, "wrap");
     }},
    {"jnp.pad(x, ((2, 1), (1, 4)), 'wrap')",
     [](const Given& g) -> Results {
       return pad(g.x, {{2, 1}, {1, 4}}, "wrap");
     }},
    {"jnp.pad(v, (2, 3), 'linear_ramp', end_values=(1, -2))",
     [](const Given& g) -> Results {
       return pad(g.v, {{2, 3}}, "linear_ramp", {.end_values = {1, -2}});
     }},
    {"jnp.pad(x, 1, 'maximum')",
     [](const Given& g) -> Results {
       return pad(g.x, {{1, 1}}, "maximum");
     }},
    {"jnp.pad(x, 1, 'mean')",
     [](const Given& g) -> Results {
       return pad(g.x, {{1, 1}}, "mean");
     }},
    {"jnp.pad(v, (1, 2), 'median', stat_length=3)",
     [](const Given& g) -> Results {
       return pad(g.v, {{1, 2}}, "median", {.stat_length = {{3, 3}}});
     }},
    {"jnp.pad(i, ((0, 1), (2, 0)), 'minimum')",
     [](const Given& g) -> Results {
       return pad(g.i, {{0, 1}, {2, 0}}, "minimum");
     }},
};

}  // namespace

std::span<const Case> JoiningCases() { return kCases; }

}  // namespace ricci::testing

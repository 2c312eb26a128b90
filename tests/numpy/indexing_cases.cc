// Elements and slices at indices, and updates there.
#include "case.h"

namespace ricci::testing {
namespace {

const Case kCases[] = {
    {"t[1]", [](const Given& g) -> Results { return index(g.t, {1}); }},
    {"t[:, ::-1, 1:3]",
     [](const Given& g) -> Results {
       return index(g.t, {kAll, Slice{{}, {}, -1}, Slice{1, 3}});
     }},
    {"x[..., None, 0]",
     [](const Given& g) -> Results {
       return index(g.x, {kEllipsis, kNewAxis, 0});
     }},
    {"v[j[:4]]", [](const Given& g) -> Results { return index(g.v, {slice(g.j, 0, 4)}); }},
    {"t[:, j[:2], j[1:3]]",
     [](const Given& g) -> Results {
       return index(g.t, {kAll, slice(g.j, 0, 2), slice(g.j, 1, 3)});
     }},
    {"jnp.take(v, j)", [](const Given& g) -> Results { return take(g.v, g.j); }},
    {"jnp.take(x, jnp.array([0, 7]), axis=1)",
     [](const Given& g) -> Results { return take(g.x, arange(g.ctx, 2) * 7, 1); }},
    {"jnp.take(x, 5, axis=0, mode='clip')", [](const Given& g) -> Results { return take(g.x, 5, 0, "clip"); }},
    {"jnp.take_along_axis(x, jnp.argsort(x, 1), 1)",
     [](const Given& g) -> Results { return take_along_axis(g.x, argsort(g.x, 1), 1); }},
    {"v.at[1].set(9)", [](const Given& g) -> Results { return set_at(g.v, 1, 9); }},
    {"t.at[:, 1, j[:2]].add(5)",
     [](const Given& g) -> Results {
       return add_at(g.t, {kAll, 1, slice(g.j, 0, 2)}, 5);
     }},
    {"x.at[0].multiply(y[1])", [](const Given& g) -> Results { return mul_at(g.x, 0, index(g.y, {1})); }},
    {"u.at[j].max(0.25)", [](const Given& g) -> Results { return max_at(g.u, g.j, 0.25); }},
    {"u.at[j].min(0.25)", [](const Given& g) -> Results { return min_at(g.u, g.j, 0.25); }},
    {"u.at[j].subtract(1)", [](const Given& g) -> Results { return sub_at(g.u, g.j, 1); }},
    {"x.at[1:, ::2].set(7)",
     [](const Given& g) -> Results {
       return set_at(g.x, {Slice{1, {}}, Slice{{}, {}, 2}}, 7);
     }},
};

}  // namespace

std::span<const Case> IndexingCases() { return kCases; }

}  // namespace ricci::testing

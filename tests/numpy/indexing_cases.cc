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
    {"t.at[0, :, jnp.array([3, 1])].set(9.0)",
     [](const Given& g) -> Results {
       return at(g.t, {0, kAll, Array(g.ctx, {3, 1})}).set(9.0);
     }},
    {"t.at[..., 1].add(x[:, :1])",
     [](const Given& g) -> Results {
       return at(g.t, {kEllipsis, 1}).add(slice(g.x, 0, 1, 1));
     }},
    {"x.at[j[:3], jnp.array([0, 0, 9])].subtract(2)",
     [](const Given& g) -> Results {
       return at(g.x, {slice(g.j, 0, 3), Array(g.ctx, {0, 0, 9})}).subtract(2);
     }},
    {"s.at[j].multiply(u)", [](const Given& g) -> Results { return at(g.s, g.j).multiply(g.u); }},
    {"s.at[j].divide(p[0, 0])",
     [](const Given& g) -> Results {
       return at(g.s, g.j).divide(index(g.p, {0, 0}));
     },
     16},
    {"i.at[:, 0].divide(2)",
     [](const Given& g) -> Results {
       return at(g.i, {kAll, 0}).divide(2);
     },
     16},
    {"jnp.abs(s).at[1:3].power(2)",
     [](const Given& g) -> Results {
       return at(abs(g.s), {Slice{1, 3}}).power(2);
     },
     16},
    {"x.at[:, 1].min(0)",
     [](const Given& g) -> Results {
       return at(g.x, {kAll, 1}).min(0);
     }},
    {"x.at[1, ::2].max(y[0, :2])",
     [](const Given& g) -> Results {
       return at(g.x, {1, Slice{.step = 2}}).max(index(g.y, {0, Slice{0, 2}}));
     }},
    {"x.at[:, 0].apply(jnp.exp)",
     [](const Given& g) -> Results {
       return at(g.x, {kAll, 0}).apply([](Value e) { return exp(e); });
     },
     16},
    {"s.at[jnp.array([1, 7, -9])].get(mode='fill')",
     [](const Given& g) -> Results {
       return at(g.s, Array(g.ctx, {1, 7, -9}), {.mode = "fill"}).get();
     }},
    {"s.at[jnp.array([1, 7, -9])].get(mode='fill', fill_value=5)",
     [](const Given& g) -> Results {
       return at(g.s, Array(g.ctx, {1, 7, -9}), {.mode = "fill", .fill_value = 5}).get();
     }},
    {"s.at[jnp.array([1, 7, -9])].get()",
     [](const Given& g) -> Results {
       return at(g.s, Array(g.ctx, {1, 7, -9})).get();
     }},
    {"s.at[jnp.array([1, 7])].set(4, mode='clip')",
     [](const Given& g) -> Results {
       return at(g.s, Array(g.ctx, {1, 7}), {.mode = "clip"}).set(4);
     }},
    {"s.at[jnp.array([1, 7])].add(4, mode='drop', unique_indices=True, indices_are_sorted=True)",
     [](const Given& g) -> Results {
       return at(g.s, Array(g.ctx, {1, 7}), {.mode = "drop", .indices_are_sorted = true, .unique_indices = true})
           .add(4);
     }},
};

}  // namespace

std::span<const Case> IndexingCases() { return kCases; }

}  // namespace ricci::testing

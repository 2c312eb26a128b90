// Quantiles, weighted means, covariances, searches and histograms.
#include "case.h"

namespace ricci::testing {
namespace {

Values All(const Histogramdd& h) {
  Values out{h.histogram};
  out.insert(out.end(), h.edges.begin(), h.edges.end());
  return out;
}

const Case kCases[] = {
    {"jnp.median(x)", [](const Given& g) -> Results { return median(g.x); }},
    {"jnp.median(x, 0)", [](const Given& g) -> Results { return median(g.x, 0); }},
    {"jnp.median(t, (0, 2), keepdims=True)",
     [](const Given& g) -> Results {
       return median(g.t, {0, 2}, true);
     }},
    {"jnp.median(i, 1)", [](const Given& g) -> Results { return median(g.i, 1); }},
    {"jnp.median(n, 1)", [](const Given& g) -> Results { return median(g.n, 1); }},
    {"jnp.quantile(x, 0.3)", [](const Given& g) -> Results { return quantile(g.x, 0.3); }},
    {"jnp.quantile(x, 0.3, 0)", [](const Given& g) -> Results { return quantile(g.x, 0.3, 0); }},
    {"jnp.quantile(t, jnp.abs(u), -1)", [](const Given& g) -> Results { return quantile(g.t, abs(g.u), -1); }},
    {"jnp.quantile(t, jnp.abs(u), (0, 1), keepdims=True)",
     [](const Given& g) -> Results {
       return quantile(g.t, abs(g.u), {0, 1}, "linear", true);
     }},
    {"jnp.quantile(x, 0.4, 1, method='lower')",
     [](const Given& g) -> Results { return quantile(g.x, 0.4, 1, "lower"); }},
    {"jnp.quantile(x, 0.4, 1, method='higher')",
     [](const Given& g) -> Results { return quantile(g.x, 0.4, 1, "higher"); }},
    {"jnp.quantile(x, 0.4, 1, method='nearest')",
     [](const Given& g) -> Results { return quantile(g.x, 0.4, 1, "nearest"); }},
    {"jnp.quantile(x, 0.4, method='midpoint')",
     [](const Given& g) -> Results { return quantile(g.x, 0.4, {}, "midpoint"); }},
    {"jnp.percentile(x, 90.0, 0)", [](const Given& g) -> Results { return percentile(g.x, 90.0, 0); }},
    {"jnp.percentile(i, 35)", [](const Given& g) -> Results { return percentile(g.i, 35); }},
    {"jnp.nanmedian(n, 1)", [](const Given& g) -> Results { return nanmedian(g.n, 1); }},
    {"jnp.nanquantile(jnp.where(b, x, jnp.nan), 0.25, 1)",
     [](const Given& g) -> Results { return nanquantile(where(g.b, g.x, NAN), 0.25, 1); }},
    {"jnp.nanpercentile(jnp.where(b, x, jnp.nan), 60)",
     [](const Given& g) -> Results { return nanpercentile(where(g.b, g.x, NAN), 60); }},
    {"jnp.average(x, 1)", [](const Given& g) -> Results { return average(g.x, 1); }},
    {"jnp.average(x, weights=p)", [](const Given& g) -> Results { return average(g.x, {}, g.p); }},
    {"jnp.average(x, 1, weights=p[0], keepdims=True)",
     [](const Given& g) -> Results { return average(g.x, 1, index(g.p, {0}), true); }},
    {"jnp.cov(x)", [](const Given& g) -> Results { return cov(g.x); }},
    {"jnp.cov(v)", [](const Given& g) -> Results { return cov(g.v); }},
    {"jnp.cov(x, rowvar=False, bias=True)",
     [](const Given& g) -> Results { return cov(g.x, {.rowvar = false, .bias = true}); }},
    {"jnp.cov(x, y, ddof=0)", [](const Given& g) -> Results { return cov(g.x, g.y, {.ddof = 0}); }},
    {"jnp.cov(x, fweights=jnp.array([1, 2, 3]), aweights=p[0])",
     [](const Given& g) -> Results {
       return cov(g.x, {.fweights = arange(g.ctx, 3) + 1, .aweights = index(g.p, {0})});
     }},
    {"jnp.corrcoef(x)", [](const Given& g) -> Results { return corrcoef(g.x); }},
    {"jnp.corrcoef(x, y, rowvar=False)", [](const Given& g) -> Results { return corrcoef(g.x, g.y, false); }, 100},
    {"jnp.searchsorted(s, x)", [](const Given& g) -> Results { return searchsorted(g.s, g.x); }},
    {"jnp.searchsorted(s, s, side='right')", [](const Given& g) -> Results { return searchsorted(g.s, g.s, "right"); }},
    {"jnp.searchsorted(s, n)", [](const Given& g) -> Results { return searchsorted(g.s, g.n); }},
    {"jnp.searchsorted(jnp.sort(n.ravel()), n)",
     [](const Given& g) -> Results { return searchsorted(sort(ravel(g.n)), g.n); }},
    {"jnp.searchsorted(s[:0], x)", [](const Given& g) -> Results { return searchsorted(slice(g.s, 0, 0), g.x); }},
    {"jnp.digitize(x, s)", [](const Given& g) -> Results { return digitize(g.x, g.s); }},
    {"jnp.digitize(x, s[::-1], right=True)", [](const Given& g) -> Results { return digitize(g.x, flip(g.s), true); }},
    {"jnp.bincount(j, length=5)", [](const Given& g) -> Results { return bincount(g.j, 5); }},
    {"jnp.bincount(j, weights=u, length=3)", [](const Given& g) -> Results { return bincount(g.j, g.u, 3); }},
    {"jnp.bincount(i[0], length=4)", [](const Given& g) -> Results { return bincount(index(g.i, {0}), 4); }},
    {"jnp.histogram_bin_edges(x, 4)", [](const Given& g) -> Results { return histogram_bin_edges(g.x, 4); }},
    {"jnp.histogram(x)", [](const Given& g) -> Results { return histogram(g.x); }},
    {"jnp.histogram(x, 3, range=(-1, 2), density=True)",
     [](const Given& g) -> Results { return histogram(g.x, 3, {.range = std::pair(-1.0, 2.0), .density = true}); }},
    {"jnp.histogram(i, s, weights=p)", [](const Given& g) -> Results { return histogram(g.i, g.s, {.weights = g.p}); }},
    {"(lambda h: (h[0], *h[1]))(jnp.histogramdd(jnp.stack([u, s], 1), 3))",
     [](const Given& g) -> Results {
       return All(histogramdd(stack({g.u, g.s}, 1), 3));
     }},
    {"(lambda h: (h[0], *h[1]))(jnp.histogramdd(jnp.stack([u, s, u], 1), [3, jnp.array([0.0, 1.0, 3.0]), 2], "
     "[None, None, (-1, 1)], jnp.abs(u), True))",
     [](const Given& g) -> Results {
       return All(histogramdd(stack({g.u, g.s, g.u}, 1), {3, Array(g.ctx, {0.0f, 1.0f, 3.0f}), 2},
                              {.range = {{}, {}, std::pair(-1.0, 1.0)}, .weights = abs(g.u), .density = true}));
     }},
    {"jnp.histogram2d(u, s, 4)",
     [](const Given& g) -> Results {
       const Histogram2d h = histogram2d(g.u, g.s, 4);
       return Values{h.histogram, h.x_edges, h.y_edges};
     }},
};

}  // namespace

std::span<const Case> StatisticsCases() { return kCases; }

}  // namespace ricci::testing

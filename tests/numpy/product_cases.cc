// Products of vectors, matrices and tensors.
#include "case.h"

namespace ricci::testing {
namespace {

const Case kCases[] = {
    {"jnp.dot(x, m)", [](const Given& g) -> Results { return dot(g.x, g.m); }},
    {"jnp.dot(v, v)", [](const Given& g) -> Results { return dot(g.v, g.v); }},
    {"jnp.dot(x, 2)", [](const Given& g) -> Results { return dot(g.x, 2); }},
    {"jnp.dot(t, v)", [](const Given& g) -> Results { return dot(g.t, g.v); }},
    {"jnp.matmul(x, m)", [](const Given& g) -> Results { return matmul(g.x, g.m); }},
    {"jnp.matmul(x, t)", [](const Given& g) -> Results { return matmul(g.x, g.t); }},
    {"jnp.matmul(i, i.T)", [](const Given& g) -> Results { return matmul(g.i, transpose(g.i)); }},
    {"jnp.inner(x, y)", [](const Given& g) -> Results { return inner(g.x, g.y); }},
    {"jnp.outer(x, v)", [](const Given& g) -> Results { return outer(g.x, g.v); }},
    {"jnp.tensordot(x, m, 1)", [](const Given& g) -> Results { return tensordot(g.x, g.m, 1); }},
    {"jnp.tensordot(x, y)", [](const Given& g) -> Results { return tensordot(g.x, g.y); }},
    {"jnp.tensordot(t, x, axes=([0, 1], [0, 1]))",
     [](const Given& g) -> Results {
       return tensordot(g.t, g.x, {0, 1}, {0, 1});
     }},
    {"jnp.vdot(x, y)", [](const Given& g) -> Results { return vdot(g.x, g.y); }},
    {"jnp.vdot(z, x)", [](const Given& g) -> Results { return vdot(g.z, g.x); }},
    {"jnp.linalg.vecdot(x, y)", [](const Given& g) -> Results { return vecdot(g.x, g.y); }},
    {"jnp.vecdot(z, z, axis=0)", [](const Given& g) -> Results { return vecdot(g.z, g.z, 0); }},
    {"jnp.matvec(t, v)", [](const Given& g) -> Results { return matvec(g.t, g.v); }},
    {"jnp.vecmat(z[:, :2], x[:, :2])",
     [](const Given& g) -> Results { return vecmat(slice(g.z, 0, 2, 1), slice(g.x, 0, 2, 1)); }},
    {"jnp.kron(x, m)", [](const Given& g) -> Results { return kron(g.x, g.m); }},
    {"jnp.kron(v, x)", [](const Given& g) -> Results { return kron(g.v, g.x); }},
    {"jnp.cross(x, y)", [](const Given& g) -> Results { return cross(g.x, g.y); }},
    {"jnp.cross(x, y, axis=0)", [](const Given& g) -> Results { return cross(g.x, g.y, 0); }},
    {"jnp.cross(x, y[:, :2])", [](const Given& g) -> Results { return cross(g.x, slice(g.y, 0, 2, 1)); }},
    {"jnp.cross(x, m[:2], axisc=0)", [](const Given& g) -> Results { return cross(g.x, slice(g.m, 0, 2), -1, -1, 0); }},
    {"jnp.einsum('ij,kj->ik', x, y)", [](const Given& g) -> Results { return einsum("ij,kj->ik", g.x, g.y); }},
    {"jnp.einsum('ijk,ij,k', t, x, v)", [](const Given& g) -> Results { return einsum("ijk,ij,k", g.t, g.x, g.v); }},
};

}  // namespace

std::span<const Case> ProductCases() { return kCases; }

}  // namespace ricci::testing

// ricci/ricci.hpp: everything a C++ host needs: contexts, arrays, traced functions and their transforms.
//
// The functions of jax.lax are apart, in ricci/lax.hpp: few hosts want them, and every host would compile them.
#ifndef RICCI_RICCI_HPP_
#define RICCI_RICCI_HPP_
#include "ricci/aliases.hpp"
#include "ricci/applied.hpp"
#include "ricci/at.hpp"
#include "ricci/branches.hpp"
#include "ricci/creation.hpp"
#include "ricci/custom_derivative.hpp"
#include "ricci/custom_linear_solve.hpp"
#include "ricci/differences.hpp"
#include "ricci/einsum.hpp"
#include "ricci/float_parts.hpp"
#include "ricci/indexing.hpp"
#include "ricci/inspect.hpp"
#include "ricci/jacobian.hpp"
#include "ricci/joining.hpp"
#include "ricci/linalg.hpp"
#include "ricci/loops.hpp"
#include "ricci/printing.hpp"
#include "ricci/products.hpp"
#include "ricci/random.hpp"
#include "ricci/sets.hpp"
#include "ricci/sorting.hpp"
#include "ricci/statistics.hpp"
#include "ricci/tree_reductions.hpp"
#include "ricci/vectorize.hpp"
#endif

// ricci/ricci.hpp: everything a C++ host needs: contexts, arrays, traced functions and their transforms.
#ifndef RICCI_RICCI_HPP_
#define RICCI_RICCI_HPP_
#include "ricci/branches.hpp"
#include "ricci/custom_derivative.hpp"
#include "ricci/inspect.hpp"
#include "ricci/jacobian.hpp"
#include "ricci/loops.hpp"
#include "ricci/random.hpp"
#include "ricci/sorting.hpp"
#include "ricci/vectorize.hpp"
#endif

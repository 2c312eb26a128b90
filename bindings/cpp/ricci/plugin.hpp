// ricci/plugin.hpp: everything a plugin needs to write primitives in C++, in one include.
//
// Read row.hpp first: a primitive is one constexpr Row. eqn.hpp is the equation a rule sees, lax.hpp what it emits,
// rules.hpp the ready-made rules, scalar.hpp the kernel builder of lowerings, register.hpp the way into the core.
#ifndef RICCI_PLUGIN_HPP_
#define RICCI_PLUGIN_HPP_
#include "ricci/eqn.hpp"
#include "ricci/lax.hpp"
#include "ricci/producer.hpp"
#include "ricci/register.hpp"
#include "ricci/row.hpp"
#include "ricci/rules.hpp"
#include "ricci/scalar.hpp"
#endif

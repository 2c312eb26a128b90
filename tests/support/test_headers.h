// The precompiled header of the test executables: gtest and what most tests include after it, half of their compile
// time.
#ifndef RICCI_TESTS_SUPPORT_TEST_HEADERS_H_
#define RICCI_TESTS_SUPPORT_TEST_HEADERS_H_
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <sstream>

#include "base/precompiled.h"
#include "ricci/primitive.h"
#include "ricci/ricci.h"
#endif

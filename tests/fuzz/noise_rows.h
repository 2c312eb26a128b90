// How rows round, by name: tables of what noise moves (noise.cc).
#ifndef RICCI_TESTS_FUZZ_NOISE_ROWS_H_
#define RICCI_TESTS_FUZZ_NOISE_ROWS_H_
#include <string_view>

namespace ricci::testing {

// Rows whose floating results are exact, or are the operands.
inline constexpr std::string_view kExact[] = {"abs",
                                              "amax",
                                              "approx_top_k",
                                              "complex",
                                              "conj",
                                              "imag",
                                              "io_callback",
                                              "pure_callback",
                                              "real",
                                              "argmax",
                                              "argmin",
                                              "bitcast_convert_type",
                                              "broadcast_in_dim",
                                              "ceil",
                                              "clamp",
                                              "clz",
                                              "concatenate",
                                              "convert_element_type",
                                              "copy",
                                              "cummax",
                                              "cummin",
                                              "dynamic_slice",
                                              "dynamic_update_slice",
                                              "expand_dims",
                                              "floor",
                                              "gather",
                                              "iota",
                                              "max",
                                              "min",
                                              "neg",
                                              "nextafter",
                                              "name",
                                              "optimization_barrier",
                                              "pad",
                                              "reduce_max",
                                              "reduce_min",
                                              "reduce_precision",
                                              "reduce_window_max",
                                              "reduce_window_min",
                                              "rem",
                                              "reshape",
                                              "rev",
                                              "round",
                                              "scatter",
                                              "scatter-max",
                                              "scatter-min",
                                              "select_and_gather_add",
                                              "select_n",
                                              "sign",
                                              "slice",
                                              "sort",
                                              "split",
                                              "squeeze",
                                              "stack",
                                              "stop_gradient",
                                              "tile",
                                              "top_k",
                                              "transpose",
                                              "unstack"};
// Rows whose error is that of slightly moved operands and does not depend on the result, which may have cancelled:
// those that add or multiply many elements, and special functions next to their zeros.
inline constexpr std::string_view kMovesOperands[] = {"reduce_sum",
                                                      "reduce_prod",
                                                      "cumsum",
                                                      "cumprod",
                                                      "cumlogsumexp",
                                                      "dot_general",
                                                      "scatter-add",
                                                      "scatter-sub",
                                                      "scatter-mul",
                                                      "digamma",
                                                      "random_gamma",
                                                      "cholesky",
                                                      "triangular_solve",
                                                      "lu",
                                                      "conv_general_dilated",
                                                      "fft",
                                                      "reduce_window_sum",
                                                      "ragged_dot_general",
                                                      "eigh",
                                                      "svd",
                                                      "eig",
                                                      "schur",
                                                      "hessenberg",
                                                      "tridiagonal",
                                                      "geqrf",
                                                      "geqp3",
                                                      "householder_product",
                                                      "ormqr",
                                                      "qr",
                                                      "tridiagonal_solve",
                                                      "cholesky_update",
                                                      "symmetric_product",
                                                      "dot_product_attention",
                                                      "layer_norm",
                                                      "rms_norm",
                                                      "scaled_matmul",
                                                      "scaled_dot_general",
                                                      "softmax"};
// JAX and XLA add more than two numbers, as cotangents, in an order of their own, and have exp(x - log(2)) in sinh;
// of polygamma they know fewer digits; for fma they have a product and a sum.
inline constexpr std::string_view kMovesOperandsInJax[] = {"add", "sinh", "cosh", "polygamma", "fma"};

// Rows that JAX computes as a difference of numbers of about 1: a small result has the error of these.
inline constexpr std::string_view kCancelsInJax[] = {"lgamma", "polygamma", "igamma", "igammac"};
// The same of complex numbers, by parts, and zeros too.
inline constexpr std::string_view kPartsCancelInJax[] = {"atan2"};
// Those of them whose zeros JAX's results miss.
inline constexpr std::string_view kMissesZerosInJax[] = {"lgamma"};
// Rows that add in an order of their own, which decides where infinities and NaNs go.
inline constexpr std::string_view kMixesInfinities[] = {"fft", "triangular_solve", "ormqr", "tridiagonal_solve"};
// The same of complex numbers, whose products are sums too.
inline constexpr std::string_view kMixesComplexInfinities[] = {"dot_general", "conv_general_dilated"};
// Rows that add products, which a fused multiply-add does not round: one that overflows by itself may not within a sum.
inline constexpr std::string_view kAddsProducts[] = {"dot_general", "ragged_dot_general", "conv_general_dilated"};
// Products that a sum may take up (pass/contract.h): what overflows by itself does not within it, as one of two does in
// the difference of two, or the other one.
inline constexpr std::string_view kProducts[] = {"mul", "square", "integer_pow"};
// Rows whose results hold vectors of length 1: what is small in one is rounded like what is large.
inline constexpr std::string_view kVectors[] = {"svd",   "eigh", "eig", "schur", "qr", "householder_product",
                                                "geqrf", "geqp3"};
// Rows whose results fade to zero, and that grow to infinity, without a pole: rounding decides on which side of the
// last number a result is.
inline constexpr std::string_view kFade[] = {"exp", "exp2", "logistic", "erfc", "pow"};
inline constexpr std::string_view kOverflow[] = {"exp", "exp2", "expm1", "sinh", "cosh"};

}  // namespace ricci::testing
#endif

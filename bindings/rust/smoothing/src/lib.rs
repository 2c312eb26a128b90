//! Smoothing of series, as primitives: a plugin that any host of Ricci loads, in any language.
//!
//! A tridiagonal solver is loops, so it becomes part of the kernel around it, on every backend. A monotone fit is an
//! algorithm whose steps depend on the numbers: which of them are pooled is found by a library, a function of Rust on
//! slices, and their means are loops again.
mod batch_rows;
mod monotone_fit;
mod pool_means;
mod pooled_runs;
mod thomas_solve;

ricci::plugin!("smoothing", "0.1.0", [
    thomas_solve::Tridiagonal,
    pooled_runs::Pools,
    pool_means::PoolMeans,
    monotone_fit::Monotone,
]);

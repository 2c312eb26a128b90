//! Lowerings of one's own: loops, libraries, source text, and those for rows of other plugins; rows that hold programs;
//! and what a rule that is wrong says.
#[path = "own_lowerings/kernel_cases.rs"]
mod kernel_cases;
#[path = "own_lowerings/library_cases.rs"]
mod library_cases;
#[path = "own_lowerings/other_rows.rs"]
mod other_rows;
#[path = "own_lowerings/program_cases.rs"]
mod program_cases;
#[path = "own_lowerings/repeat_row.rs"]
mod repeat_row;
#[path = "own_lowerings/small_row.rs"]
mod small_row;
#[path = "own_lowerings/smoothing_cases.rs"]
mod smoothing_cases;
#[path = "own_lowerings/source_cases.rs"]
mod source_cases;

// The rows of the plugin `smoothing`.
#[path = "../../smoothing/src/batch_rows.rs"]
mod batch_rows;
#[path = "../../smoothing/src/monotone_fit.rs"]
mod monotone_fit;
#[path = "../../smoothing/src/pool_means.rs"]
mod pool_means;
#[path = "../../smoothing/src/pooled_runs.rs"]
mod pooled_runs;
#[path = "../../smoothing/src/thomas_solve.rs"]
mod thomas_solve;

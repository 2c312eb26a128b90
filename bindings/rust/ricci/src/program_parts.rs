//! Transformations that rules of primitives that hold programs need: derivatives and batches of some results, halves,
//! and programs without dead code.
//!
//! A result may have a tangent although none was asked for, so each takes flags and gives flags back. Around a loop they
//! reach a fixpoint: what a trip gives is what the next one takes.
use crate::abi_data::{bytes_of_flags, flags_of, header, view};
use crate::error::{check, Error, Result};
use crate::program::Program;
use ricci_sys as sys;
use std::ptr;

/// The halves of a program: what [`Program::partial_eval`] gives.
#[derive(Clone, Debug)]
pub struct Halves {
    /// Takes the known parameters, gives the known results, then the residuals.
    pub known: Program,
    /// Takes the residuals, then the other parameters, and gives the other results.
    pub unknown: Program,
    /// Which results are known.
    pub known_results: Vec<bool>,
    /// How many residuals there are.
    pub residuals: usize,
}
impl Halves {
    /// The parameter of [`known`](Halves::known) that residual `i` is, unchanged; `None` if it is computed.
    pub fn residual_param(&self, i: usize) -> Option<usize> {
        let result = self.known.results().len() - self.residuals + i;
        // SAFETY: the program lives.
        let param = unsafe { sys::ricci_program_result_param(self.known.raw(), result as u32) };
        usize::try_from(param).ok()
    }
}

impl Program {
    #[track_caller]
    fn expect_flags(&self, what: &str, flags: &[bool], wanted: usize) -> Result<()> {
        if flags.len() == wanted {
            return Ok(());
        }
        Err(Error::here(format!("{}: {} flags of {}, but it has {}", self.name(), flags.len(), what, wanted)))
    }
    /// Forward mode without tangents that are zero: takes the parameters, then a tangent for each that is active; gives
    /// the results, then a tangent for each of the flags that are given back. Where `wanted` holds, the tangent is there
    /// even if it is zero.
    #[track_caller]
    pub fn jvp_sparse(&self, active: &[bool], wanted: &[bool]) -> Result<(Program, Vec<bool>)> {
        self.expect_flags("parameters", active, self.params().len())?;
        self.expect_flags("results", wanted, self.results().len())?;
        let (active, mut given, mut out) = (bytes_of_flags(active), bytes_of_flags(wanted), ptr::null_mut());
        check(unsafe { sys::ricci_jvp_sparse(self.raw(), active.as_ptr(), active.len() as u32, given.as_mut_ptr(), &mut out) })?;
        Ok((self.owned(out), flags_of(&given)))
    }
    /// A batch by the rules of each operation: `batched` says which parameters have it, as dimension 0. Gives back which
    /// results have it, also as dimension 0; where `wanted` holds, they have.
    #[track_caller]
    pub fn batch(&self, batched: &[bool], size: i64, wanted: &[bool]) -> Result<(Program, Vec<bool>)> {
        self.expect_flags("parameters", batched, self.params().len())?;
        self.expect_flags("results", wanted, self.results().len())?;
        let (batched, mut given, mut out) = (bytes_of_flags(batched), bytes_of_flags(wanted), ptr::null_mut());
        let n = batched.len() as u32;
        check(unsafe { sys::ricci_batch(self.raw(), batched.as_ptr(), n, size, ptr::null(), given.as_mut_ptr(), &mut out) })?;
        Ok((self.owned(out), flags_of(&given)))
    }
    /// The same without what no used result needs: only the used results are left, and all parameters; gives back which
    /// of these are read.
    #[track_caller]
    pub fn dce(&self, used: &[bool]) -> Result<(Program, Vec<bool>)> {
        self.expect_flags("results", used, self.results().len())?;
        let (used, mut read, mut out) = (bytes_of_flags(used), vec![0; self.params().len()], ptr::null_mut());
        check(unsafe { sys::ricci_dce(self.raw(), used.as_ptr(), used.len() as u32, read.as_mut_ptr(), &mut out) })?;
        Ok((self.owned(out), flags_of(&read)))
    }
    /// Split by which parameters are known. `policy` says what may become a residual: `everything` or nothing said,
    /// `nothing`, `dots`, and those of `ricci/transform.h`. Where `unknown` holds, a result is in the other half, whether
    /// it is known or not.
    #[track_caller]
    pub fn partial_eval(&self, known: &[bool], policy: &str, unknown: &[bool]) -> Result<Halves> {
        self.halves(known, policy, unknown, 0)
    }
    /// The same for halves that run in loops of their own, as those of a loop do: nothing has to keep what the second one
    /// computes again apart from what the first one computed.
    #[track_caller]
    pub fn partial_eval_apart(&self, known: &[bool], policy: &str, unknown: &[bool]) -> Result<Halves> {
        self.halves(known, policy, unknown, sys::RICCI_PARTIAL_EVAL_APART)
    }
    #[track_caller]
    pub(crate) fn halves(&self, known: &[bool], policy: &str, unknown: &[bool], flags: u32) -> Result<Halves> {
        self.expect_flags("parameters", known, self.params().len())?;
        self.expect_flags("results", unknown, self.results().len())?;
        let forced = bytes_of_flags(unknown);
        let known = bytes_of_flags(known);
        let (mut results, mut residuals) = (vec![0; self.results().len()], 0);
        let (mut first, mut last) = (ptr::null_mut(), ptr::null_mut());
        let mut hdr = header::<sys::ricci_partial_eval_opts>();
        hdr.flags = flags;
        let options = sys::ricci_partial_eval_opts { hdr, force_unknown: forced.as_ptr(), policy: view(policy) };
        check(unsafe {
            sys::ricci_partial_eval(
                self.raw(), known.as_ptr(), known.len() as u32, &options, results.as_mut_ptr(), &mut residuals, &mut first,
                &mut last,
            )
        })?;
        let (known, unknown) = (self.owned(first), self.owned(last));
        Ok(Halves { known, unknown, known_results: flags_of(&results), residuals: residuals as usize })
    }
    fn owned(&self, raw: *mut sys::ricci_program) -> Program {
        // SAFETY: the core has just made it, in the context of this program.
        unsafe { Program::from_owned(raw, self.context().clone()) }
    }
}

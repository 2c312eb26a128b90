//! What the rules of primitives that hold programs get: the split into what is known and what is not, and dead code.
use crate::abi_data::text;
use crate::error::{check, Error, Result};
use crate::program::Program;
use crate::trace::{Builder, Tracing, Value};
use ricci_sys as sys;
use std::fmt;
use std::rc::Rc;

/// What a rule [`Primitive::dce`](crate::plugin::Primitive::dce) gets.
#[derive(Debug)]
pub struct Dce<'a> {
    /// Which results are used, at least one.
    pub used: &'a [bool],
    /// The operands that [`Primitive::needed`](crate::plugin::Primitive::needed) says; `None` for the others.
    pub operands: &'a [Option<Value>],
}

/// What a rule [`Primitive::partial_eval`](crate::plugin::Primitive::partial_eval) gets: two programs, of which the first
/// one is run before the second one, and may not use anything of it.
pub struct PartialEval<'a> {
    /// Which operands are known.
    pub known: &'a [bool],
    /// The operands: values of the known half, or of the other one.
    pub operands: &'a [Value],
    halves: (&'a Rc<Builder>, &'a Rc<Builder>),
    raw: &'a sys::ricci_partial_eval_args,
}
impl fmt::Debug for PartialEval<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PartialEval").field("known", &self.known).field("operands", &self.operands).finish()
    }
}

impl<'a> PartialEval<'a> {
    pub(crate) fn new(
        known: &'a [bool], operands: &'a [Value], halves: (&'a Rc<Builder>, &'a Rc<Builder>),
        raw: &'a sys::ricci_partial_eval_args,
    ) -> PartialEval<'a> {
        PartialEval { known, operands, halves, raw }
    }
    /// Which known values may be kept for the other half, as [`Program::partial_eval`] takes it.
    pub fn policy(&self) -> String {
        text(self.raw.policy)
    }
    /// Whether the results are asked for twice, for a row with [`Rule::SavesInside`](crate::plugin::Rule::SavesInside):
    /// all operands are known, the rule gives all results as values of the known half, then all of them again as values
    /// of the other half, computed from what the policy saves.
    pub fn again(&self) -> bool {
        !self.raw.again.is_null()
    }
    /// A value of the known half, kept: the same value, in the other half.
    #[track_caller]
    pub fn residual(&self, x: &Value) -> Result<Value> {
        let (known, unknown) = self.halves;
        if !Rc::ptr_eq(known, &x.builder) {
            return Err(Error::here("residual: only a value of the known half can be kept; those of the other one are there"));
        }
        let id = known.ids(std::panic::Location::caller(), std::slice::from_ref(x))?[0];
        let residual = self.raw.residual.ok_or_else(|| Error::here("the core gives no function for residuals"))?;
        let mut out = 0;
        check(unsafe { residual(self.raw.split, id, &mut out) })?;
        Ok(Value { builder: unknown.clone(), id: out })
    }
    /// Runs `f` in the half that is not known, for operations without operands; those of values need no such thing.
    pub fn in_unknown<R>(&self, f: impl FnOnce() -> R) -> R {
        let _tracing = Tracing::of(self.halves.1);
        f()
    }
    /// The results of `f`, a program that does what the operation does, split as this asks for. That is all there is to
    /// do for an operation that can be written by operations that can be split.
    pub fn split(&self, f: &Program) -> Result<Vec<Value>> {
        let (n, flags) = (f.results().len(), self.raw.hdr.flags & sys::RICCI_PARTIAL_EVAL_APART);
        let parts = if self.again() {
            // With every result listed twice, of which the second ones are in the other half, this is a split like others.
            let twice = f.context().trace(&f.name(), f.params(), |x| {
                let results = f.call(&x.iter().collect::<Vec<_>>());
                [&results[..], &results[..]].concat()
            })?;
            twice.halves(self.known, &self.policy(), &[vec![false; n], vec![true; n]].concat(), flags)?
        } else {
            f.halves(self.known, &self.policy(), &vec![false; n], flags)?
        };
        let of = |known| self.operands.iter().zip(self.known).filter(move |(_, k)| **k == known).map(|(x, _)| x);
        let mut first = parts.known.call(&of(true).collect::<Vec<_>>());
        let kept = first.split_off(first.len() - parts.residuals);
        let kept = kept.iter().map(|x| self.residual(x)).collect::<Result<Vec<_>>>()?;
        let rest: Vec<&Value> = kept.iter().chain(of(false)).collect();
        let last = self.in_unknown(|| parts.unknown.call(&rest));
        let (mut first, mut last) = (first.into_iter(), last.into_iter());
        let next = |known: &bool| if *known { first.next() } else { last.next() };
        Ok(parts.known_results.iter().filter_map(next).collect())
    }
}

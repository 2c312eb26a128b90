//! Closures as programs: traced at once, or compiled at the first call with arguments of some types; and programs within
//! the closures of others.
use crate::array::Array;
use crate::context::Context;
use crate::error::Result;
use crate::executable::Executable;
use crate::program::Program;
use crate::trace::{innermost, run_traced, traced_now, Builder, Value};
use crate::tree::{Mapped, Tree};
use crate::types::Type;
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;

/// The types of the leaves, and the structure of the arguments.
type Key = (Vec<Type>, Vec<usize>);

/// A closure that is traced and compiled at its first call with arguments of some types; later ones run the code.
pub struct Jit<F, R> {
    context: Context,
    f: F,
    known: RefCell<HashMap<Key, (Executable, R)>>,
}

impl Context {
    /// Runs `f` once on values of these types and records what it does. The types, the values and the results may be
    /// trees (tuples, vectors, structs of `tree_struct!`), whose leaves are the parameters and results in order.
    #[track_caller]
    pub fn trace<S, R>(&self, name: &str, types: S, f: impl FnOnce(S::To) -> R) -> Result<Program>
    where
        S: Mapped<Type, Value>,
        R: Tree<Value>,
    {
        let (builder, params) = Builder::new(self, None, name, &types.leaves())?;
        let mut params = params.into_iter();
        let given = types.map(&mut |_| params.next().expect("a parameter for each type"));
        let out = run_traced(&builder, || f(given))?;
        builder.finish(&out.leaves())
    }
    /// See [`Jit`]. The closure takes and gives trees of [`Value`]s; it is called with the same trees of [`Array`]s.
    pub fn jit<F, R>(&self, f: F) -> Jit<F, R> {
        Jit { context: self.clone(), f, known: RefCell::new(HashMap::new()) }
    }
}

impl<F, R> fmt::Debug for Jit<F, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Jit({} compiled)", self.known.borrow().len())
    }
}
impl<F, R> Jit<F, R> {
    /// Runs the code for arguments of these types, which is made if this is the first call with them.
    #[track_caller]
    pub fn call<A>(&self, arguments: A) -> Result<<R as Mapped<Value, Array>>::To>
    where
        A: Mapped<Array, Value>,
        F: Fn(A::To) -> R,
        R: Mapped<Value, Array>,
    {
        let given = arguments.leaves();
        let types: Vec<Type> = given.iter().map(Array::ty).collect();
        let mut lengths = Vec::new();
        arguments.shape_of_tree(&mut lengths);
        let key = (types, lengths);
        if !self.known.borrow().contains_key(&key) {
            let made = self.traced(&arguments, &key.0)?;
            self.known.borrow_mut().insert(key.clone(), made);
        }
        let known = self.known.borrow();
        let (code, like) = &known[&key];
        let mut results = code.run(&given.iter().collect::<Vec<_>>())?.into_iter();
        Ok(like.map(&mut |_| results.next().expect("a result for each leaf")))
    }
    #[track_caller]
    fn traced<A>(&self, arguments: &A, types: &[Type]) -> Result<(Executable, R)>
    where
        A: Mapped<Array, Value>,
        F: Fn(A::To) -> R,
        R: Tree<Value>,
    {
        let (builder, params) = Builder::new(&self.context, None, "jit", types)?;
        let mut params = params.into_iter();
        let given = arguments.map(&mut |_| params.next().expect("a parameter for each leaf"));
        let out = run_traced(&builder, || (self.f)(given))?;
        Ok((builder.finish(&out.leaves())?.compile()?, out))
    }
}

impl Program {
    /// The equations of this program in a trace: its results for these operands.
    #[track_caller]
    pub fn call(&self, operands: &[&Value]) -> Vec<Value> {
        let builder = match operands {
            [] => traced_now().expect("a program without parameters is called outside of any trace"),
            _ => innermost(operands),
        };
        builder.inline(self, operands).unwrap_or_else(|e| {
            builder.fail(e);
            self.results().iter().map(|_| builder.nothing()).collect()
        })
    }
}

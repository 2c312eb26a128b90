//! `demo.cube(x)` = x^3: a type and a decomposition; derivatives, batches and code follow from these.
use ricci::plugin::{Attributes, Primitive};
use ricci::{Type, Value};

#[derive(Default)]
struct Cube;

impl Primitive for Cube {
    fn name(&self) -> &str {
        "demo.cube"
    }
    fn doc(&self) -> &str {
        "y = demo.cube(x): x^3"
    }
    fn examples(&self) -> &str {
        "(f64[2,3]); (f32[4])"
    }
    fn types(&self, operands: &[Type], _: &Attributes<'_>) -> Result<Vec<Type>, String> {
        Ok(operands.to_vec())
    }
    fn decompose(&self, x: &[Value], _: &Attributes<'_>) -> Vec<Value> {
        vec![&x[0] * &x[0] * &x[0]]
    }
}

ricci::plugin!("cube", "0.1.0", [Cube]);

//! A row made of functions, so that a case is a few lines, and what compiling or running it says.
use ricci::plugin::{Attributes, Kernel, LibraryPlan, Operation, Primitive, Rule, Source};
use ricci::{Array, Context, Error, Result, Type};

/// A primitive whose result has the type of operand 0, with one lowering.
pub struct SmallRow {
    pub name: &'static str,
    pub rules: &'static [Rule],
    pub loops: fn(&Kernel) -> std::result::Result<(), String>,
    pub library: fn(&Operation<'_>) -> std::result::Result<LibraryPlan, String>,
    pub source: fn(&Operation<'_>, &str) -> std::result::Result<Vec<Source>, String>,
}
pub const ROW: SmallRow = SmallRow {
    name: "test.row",
    rules: &[],
    loops: |_| unreachable!(),
    library: |_| unreachable!(),
    source: |_, _| unreachable!(),
};

impl Primitive for SmallRow {
    fn name(&self) -> &str {
        self.name
    }
    fn doc(&self) -> &str {
        ""
    }
    fn examples(&self) -> &str {
        ""
    }
    fn types(&self, operands: &[Type], _: &Attributes<'_>) -> std::result::Result<Vec<Type>, String> {
        Ok(operands[..1].to_vec())
    }
    fn rules(&self) -> &[Rule] {
        self.rules
    }
    fn loops(&self, kernel: &Kernel, _: &Attributes<'_>) -> std::result::Result<(), String> {
        (self.loops)(kernel)
    }
    fn library(&self, operation: &Operation<'_>) -> std::result::Result<LibraryPlan, String> {
        (self.library)(operation)
    }
    fn source(&self, operation: &Operation<'_>, target: &str) -> std::result::Result<Vec<Source>, String> {
        (self.source)(operation, target)
    }
}

/// The result of `test.row` on these operands, in a context that has it, as a plugin `small`.
pub fn run(rows: ricci::plugin::Rows, operands: &[(Type, Vec<f64>)]) -> Result<Vec<f64>> {
    let mut ctx = Context::new()?;
    unsafe { ctx.add_primitives("small", rows)? };
    let types: Vec<Type> = operands.iter().map(|(t, _)| t.clone()).collect();
    let f = ctx.trace("f", types, |x| {
        let others: Vec<_> = x[1..].iter().collect();
        x[0].emit("test.row", &[], &others, 1).remove(0)
    })?;
    let code = f.compile()?;
    let arrays = operands.iter().map(|(t, data)| ctx.array(data, &t.dims)).collect::<Result<Vec<_>>>()?;
    code.run(&arrays.iter().collect::<Vec<&Array>>())?[0].to_vec::<f64>()
}
/// What that says for `x` of f64[4].
pub fn failure(rows: ricci::plugin::Rows) -> Error {
    match run(rows, &[(ricci::F64.shape(&[4]), vec![4.0, 3.0, 2.0, 1.0])]) {
        Ok(out) => panic!("it gives {:?}", out),
        Err(e) => e,
    }
}
/// That the message has all of these words.
pub fn expect_words(e: &Error, words: &[&str]) {
    for word in words {
        assert!(e.message().contains(word), "`{}` is not in: {}", word, e);
    }
}

//! test.repeat(cs..., xs...) n=3 body=...: `n` times, the body takes all operands and gives new values of the last ones,
//! as many as it has results. It holds a program, so it has every rule that such a primitive can have.
use ricci::plugin::{Attributes, Batch, Dce, Jvp, Kind, PartialEval, Primitive, Rule};
use ricci::{Attribute, Program, Result, Type, Value};

pub struct Repeat;

fn emitted(n: i64, body: &Program, operands: &[Value]) -> Vec<Value> {
    let others: Vec<&Value> = operands[1..].iter().collect();
    let attributes = [Attribute::int("n", n), Attribute::program("body", body)];
    operands[0].emit("test.repeat", &attributes, &others, body.results().len())
}
/// A scan does the same.
fn scanned(a: &Attributes<'_>, operands: &[Value]) -> Vec<Value> {
    let (body, others) = (a.program("body"), operands[1..].iter().collect::<Vec<_>>());
    let carried = body.results().len() as i64;
    let attributes = [
        Attribute::int("length", a.int("n")),
        Attribute::int("num_consts", operands.len() as i64 - carried),
        Attribute::int("num_carry", carried),
        Attribute::program("body", &body),
    ];
    operands[0].emit("scan", &attributes, &others, carried as usize)
}
/// What a trip gives is what the next one takes: `flags` of the operands, raised until `step` raises no more.
fn fixpoint(
    flags: &mut [bool], carried: usize, mut step: impl FnMut(&[bool]) -> Result<(Program, Vec<bool>)>,
) -> Result<Program> {
    let first = flags.len() - carried;
    loop {
        let (f, given) = step(flags)?;
        let grown: Vec<bool> = flags[first..].iter().zip(&given).map(|(x, y)| *x || *y).collect();
        if flags[first..] == grown[..] {
            return Ok(f);
        }
        flags[first..].copy_from_slice(&grown);
    }
}

impl Primitive for Repeat {
    fn name(&self) -> &str {
        "test.repeat"
    }
    fn doc(&self) -> &str {
        "ys... = test.repeat(xs...): `body`, `n` times: it takes all operands and gives new values of the last ones"
    }
    fn examples(&self) -> &str {
        "(f64[3], f64[3]) n=3 body=program(%c: f64[3], %x: f64[3]) {
           %p: f64[3] = mul(%c, %x)  %s: f64[3] = sin(%p)  return %s };
         (f64[2], f64[2] in 0.5..1, i32[2]) n=2 body=program(%a: f64[2], %b: f64[2], %i: i32[2]) {
           %p: f64[2] = mul(%a, %b)  return %b, %p, %i };
         (f64[2]) body=program(%a: f64[2]) { %s: f64[2] = sin(%a)  return %s } n=0"
    }
    fn attributes(&self) -> Vec<(&'static str, Kind)> {
        vec![("n", Kind::Int), ("body", Kind::Program)]
    }
    fn types(&self, operands: &[Type], a: &Attributes<'_>) -> std::result::Result<Vec<Type>, String> {
        let (n, body) = (a.int("n"), a.program("body"));
        let (params, results) = (body.params(), body.results());
        if n < 0 {
            return Err(format!("n is {}; it must be 0 or more", n));
        }
        if params != operands || !params.ends_with(&results) {
            return Err(format!("body takes {:?} and gives {:?}; operands are {:?}", params.len(), results.len(), operands.len()));
        }
        Ok(results)
    }
    fn rules(&self) -> &[Rule] {
        &[Rule::Decompose, Rule::Jvp, Rule::Batch, Rule::PartialEval, Rule::SavesInside, Rule::Dce]
    }
    fn decompose(&self, operands: &[Value], a: &Attributes<'_>) -> Vec<Value> {
        scanned(a, operands)
    }
    fn try_jvp(&self, given: &Jvp<'_>, a: &Attributes<'_>) -> Result<(Vec<Value>, Vec<Option<Value>>)> {
        let (body, n) = (a.program("body"), given.primals.len());
        let (carried, mut active) = (body.results().len(), given.tangents.iter().map(Option::is_some).collect::<Vec<_>>());
        let both = fixpoint(&mut active, carried, |active| body.jvp_sparse(active, &active[n - carried..]))?;
        // Constants, their tangents, what is carried, its tangents: as the body of a repeat must have them.
        let tangents: Vec<usize> = (0..n).filter(|i| active[*i]).collect();
        let (first, last): (Vec<usize>, Vec<usize>) = (0..n + tangents.len())
            .partition(|i| if *i < n { *i < n - carried } else { tangents[*i - n] < n - carried });
        let order = [first, last].concat();
        let types: Vec<Type> = order.iter().map(|i| both.params()[*i].clone()).collect();
        let body = body.context().trace("body", types, |x| {
            let position = |i| order.iter().position(|o| *o == i).expect("a place of its own");
            both.call(&(0..order.len()).map(|i| &x[position(i)]).collect::<Vec<_>>())
        })?;
        let all: Vec<Value> = given.primals.iter().cloned().chain(tangents.iter().map(|i| given.tangent(*i))).collect();
        let mut results = emitted(a.int("n"), &body, &order.iter().map(|i| all[*i].clone()).collect::<Vec<_>>());
        let mut moved = results.split_off(carried).into_iter();
        Ok((results, active[n - carried..].iter().map(|is| if *is { moved.next() } else { None }).collect()))
    }
    fn try_batch(&self, given: &Batch<'_>, a: &Attributes<'_>) -> Result<Vec<(Value, Option<usize>)>> {
        let (body, n) = (a.program("body"), given.operands.len());
        let (carried, mut batched) = (body.results().len(), given.dims.iter().map(Option::is_some).collect::<Vec<_>>());
        let body = fixpoint(&mut batched, carried, |b| body.batch(b, given.size, &b[n - carried..]))?;
        let operands: Vec<Value> = (0..n).map(|i| if batched[i] { given.first(i) } else { given.operands[i].clone() }).collect();
        let dims = batched[n - carried..].iter().map(|b| b.then(|| 0));
        Ok(emitted(a.int("n"), &body, &operands).into_iter().zip(dims).collect())
    }
    fn partial_eval(&self, given: &PartialEval<'_>, a: &Attributes<'_>) -> Result<Vec<Value>> {
        let body = a.program("body");
        given.split(&body.context().trace("repeat", body.params(), |x| scanned(a, &x))?)
    }
    fn needed(&self, used: &[bool], a: &Attributes<'_>) -> Result<Vec<bool>> {
        Ok(pruned(&a.program("body"), used)?.1)
    }
    fn dce(&self, given: &Dce<'_>, a: &Attributes<'_>) -> Result<Vec<Option<Value>>> {
        let body = a.program("body");
        let (smaller, needed) = pruned(&body, given.used)?;
        let kept = &needed[needed.len() - given.used.len()..];
        let params = body.params();
        let types: Vec<Type> = params.iter().zip(&needed).filter(|(_, n)| **n).map(|(t, _)| t.clone()).collect();
        let own = body.context().trace("body", types, |x| {
            let mut next = x.iter().cloned();
            let given = |(t, is): (&Type, &bool)| if *is { next.next().expect("a parameter") } else { zeros(&x[0], t) };
            let all: Vec<Value> = params.iter().zip(&needed).map(given).collect();
            smaller.call(&all.iter().collect::<Vec<_>>())
        })?;
        let operands: Vec<Value> = given.operands.iter().flatten().cloned().collect();
        let mut results = emitted(a.int("n"), &own, &operands).into_iter();
        let all = kept.iter().map(|k| if *k { results.next() } else { None }).collect::<Vec<_>>();
        Ok(all.into_iter().zip(given.used).map(|(x, used)| x.filter(|_| *used)).collect())
    }
}
fn zeros(near: &Value, t: &Type) -> Value {
    near.constant(&[0.0f64], &[]).astype(t.dtype).broadcast_to(&t.dims)
}
/// The body without what no used result needs, and which operands that leaves: what a used result is made of is carried.
fn pruned(body: &Program, used: &[bool]) -> Result<(Program, Vec<bool>)> {
    let (mut flags, carried) = (vec![false; body.params().len()], used.len());
    let first = flags.len() - carried;
    flags[first..].copy_from_slice(used);
    let mut read = Vec::new();
    let smaller = fixpoint(&mut flags, carried, |flags| {
        let (f, reads) = body.dce(&flags[first..])?;
        read = reads.clone();
        Ok((f, reads[first..].to_vec()))
    })?;
    flags[..first].copy_from_slice(&read[..first]);
    Ok((smaller, flags))
}

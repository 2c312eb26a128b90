//! A pendulum: its parameters are fitted to a path that was seen, then a model-predictive controller swings it up.
//!
//! Both go by gradients through the simulation: `cargo run --release --example pendulum`.
use ricci::{scan, Context, Executable, Result, Value, F32};

const DT: f64 = 0.05;
const SEEN: usize = 60; // steps of the path
const AHEAD: usize = 40; // steps that the controller plans
const STRONGEST: f64 = 6.0; // torque; gravity wins against it at rest

#[derive(Clone)]
struct State<T> {
    angle: T, // 0 hangs down
    speed: T,
}
ricci::tree_struct!(State { angle, speed });

/// What is unknown.
#[derive(Clone)]
struct Pendulum<T> {
    stiffness: T, // gravity over length
    damping: T,
}
ricci::tree_struct!(Pendulum { stiffness, damping });

fn step(p: &Pendulum<Value>, s: &State<Value>, torque: &Value) -> State<Value> {
    let force = torque - &p.stiffness * s.angle.sin() - &p.damping * &s.speed;
    let speed = &s.speed + force * DT;
    State { angle: &s.angle + &speed * DT, speed }
}

/// All states under these torques, as angles and speeds.
fn path(p: &Pendulum<Value>, start: &State<Value>, torques: &Value) -> (Value, Value) {
    let (_, seen) = scan(start, torques, None, |s: State<Value>, torque: Value| {
        let next = step(p, &s, &torque);
        let seen = (next.angle.clone(), next.speed.clone());
        (next, seen)
    });
    seen
}

/// Adam (Kingma and Ba, 2015) for a few numbers.
struct Adam {
    rate: f32,
    mean: Vec<f32>,
    square: Vec<f32>,
    steps: i32,
}
impl Adam {
    fn new(rate: f32, n: usize) -> Adam {
        Adam { rate, mean: vec![0.0; n], square: vec![0.0; n], steps: 0 }
    }
    fn step(&mut self, x: &mut [f32], gradient: &[f32]) {
        self.steps += 1;
        for i in 0..x.len() {
            self.mean[i] = 0.9 * self.mean[i] + 0.1 * gradient[i];
            self.square[i] = 0.999 * self.square[i] + 0.001 * gradient[i] * gradient[i];
            let mean = self.mean[i] / (1.0 - 0.9f32.powi(self.steps));
            let square = self.square[i] / (1.0 - 0.999f32.powi(self.steps));
            x[i] -= self.rate * mean / (square.sqrt() + 1e-8);
        }
    }
}

fn fit(ctx: &Context, truth: [f32; 2]) -> Result<[f32; 2]> {
    let one = || F32.shape(&[]);
    let types = (one(), one(), F32.shape(&[SEEN as i64]));
    let error = ctx.trace("error", types, |(stiffness, damping, seen)| {
        let start = State { angle: stiffness.full_like(1.5), speed: stiffness.full_like(0.0) };
        let (angles, _) = path(&Pendulum { stiffness, damping }, &start, &seen.full_like(0.0));
        (angles - seen).square().mean()
    })?;
    let mut slope = error.value_and_grad(&[0, 1])?.compile()?.call()?;
    slope.argument::<f32>(2).copy_from_slice(&simulated(truth, [1.5, 0.0], &[0.0; SEEN]));
    let (mut guess, mut adam) = ([4.0f32, 0.5], Adam::new(0.1, 2));
    for round in 0..=300 {
        slope.argument::<f32>(0)[0] = guess[0];
        slope.argument::<f32>(1)[0] = guess[1];
        slope.run()?;
        if round % 100 == 0 {
            println!("fit {:3}: error {:.2e}, stiffness {:.3}, damping {:.3}", round, slope.result::<f32>(0)[0], guess[0], guess[1]);
        }
        let gradient = [slope.result::<f32>(1)[0], slope.result::<f32>(2)[0]];
        adam.step(&mut guess, &gradient);
    }
    Ok(guess)
}

/// What the world does: the same pendulum in plain Rust.
fn simulated(p: [f32; 2], mut s: [f32; 2], torques: &[f32]) -> Vec<f32> {
    let mut angles = Vec::new();
    for torque in torques {
        s[1] += (torque - p[0] * s[0].sin() - p[1] * s[1]) * DT as f32;
        s[0] += s[1] * DT as f32;
        angles.push(s[0]);
    }
    angles
}

/// The cost of a plan and its gradient; parameters of the pendulum, a state, and the plan before it is limited.
fn planner(ctx: &Context) -> Result<Executable> {
    let one = || F32.shape(&[]);
    let types = (Pendulum { stiffness: one(), damping: one() }, State { angle: one(), speed: one() }, F32.shape(&[AHEAD as i64]));
    let cost = ctx.trace("cost", types, |(p, start, plan)| {
        let torques = plan.tanh() * STRONGEST;
        let (angles, speeds) = path(&p, &start, &torques);
        // Upright it has the energy 2, as a share of the stiffness: what brings it there, and what holds it there.
        let energy = speeds.square() / (&p.stiffness * 2.0) + 1.0 - angles.cos();
        (energy - 2.0).square().mean() + (angles.cos() + 1.0).mean() * 0.5 + torques.square().mean() * 1e-3
    })?;
    cost.value_and_grad(&[4])?.compile()
}

fn control(ctx: &Context, known: [f32; 2], truth: [f32; 2]) -> Result<f32> {
    let mut plan_cost = planner(ctx)?.call()?;
    plan_cost.argument::<f32>(0)[0] = known[0];
    plan_cost.argument::<f32>(1)[0] = known[1];
    let (mut state, mut plan) = ([0.0f32, 0.0], vec![0.3f32; AHEAD]);
    for time in 0..160 {
        plan_cost.argument::<f32>(2)[0] = state[0];
        plan_cost.argument::<f32>(3)[0] = state[1];
        let mut adam = Adam::new(0.2, AHEAD);
        for _ in 0..30 {
            plan_cost.argument::<f32>(4).copy_from_slice(&plan);
            plan_cost.run()?;
            adam.step(&mut plan, plan_cost.result::<f32>(1));
        }
        let torque = plan[0].tanh() * STRONGEST as f32;
        state[1] += (torque - truth[0] * state[0].sin() - truth[1] * state[1]) * DT as f32;
        state[0] += state[1] * DT as f32;
        plan.rotate_left(1);
        plan[AHEAD - 1] = 0.0;
        if time % 40 == 39 {
            println!("t = {:3.1} s: angle {:6.3}, speed {:6.3}", (time + 1) as f64 * DT, state[0], state[1]);
        }
    }
    Ok(-state[0].cos())
}

fn main() -> Result<()> {
    let ctx = Context::new()?;
    let truth = [9.81f32, 0.2];
    let known = fit(&ctx, truth)?;
    assert!((known[0] - truth[0]).abs() < 0.05 && (known[1] - truth[1]).abs() < 0.02, "the fit is off: {:?}", known);
    let height = control(&ctx, known, truth)?;
    println!("height {:.4} (1 is upright)", height);
    assert!(height > 0.99, "the pendulum is not upright");
    Ok(())
}

//! Signed distances between shapes, as primitives: a plugin that any host of Ricci loads, in any language.
//!
//! Each is made of other primitives, and has a lowering of its own: one expression, which becomes part of whatever
//! kernel reads the distance. The distance of capsules has a derivative of its own too.
mod capsules;
mod geometry;
mod point_box;

ricci::plugin!("collision", "0.1.0", [capsules::Capsules, point_box::PointBox]);

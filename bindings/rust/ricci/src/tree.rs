//! Trees: what functions take and give is made of tuples, vectors, arrays and structs, with leaves of one type.
//!
//! A tree is mapped from leaves of one type to another: types become values when a closure is traced, arrays become
//! values in `jit`, and results become arrays again, in the caller's own structs.

/// A value made of leaves of type `L`, in a fixed order.
pub trait Tree<L> {
    /// Visits all leaves, in order.
    fn each(&self, visit: &mut dyn FnMut(&L));
    /// What the type does not say: how long its vectors are.
    fn shape_of_tree(&self, lengths: &mut Vec<usize>) {
        let _ = lengths;
    }
    /// All leaves, in order.
    fn leaves(&self) -> Vec<L>
    where
        L: Clone,
    {
        let mut out = Vec::new();
        self.each(&mut |leaf| out.push(leaf.clone()));
        out
    }
}

/// A tree whose leaves can become leaves of another type; what it is made of stays.
pub trait Mapped<L, M>: Tree<L> {
    /// The same tree with the other leaves.
    type To: Tree<M>;
    /// The tree whose leaves are what `f` makes of these.
    fn map(&self, f: &mut dyn FnMut(&L) -> M) -> Self::To;
}

macro_rules! leaf {
    ($($leaf:ty),*) => {$(
        impl Tree<$leaf> for $leaf {
            fn each(&self, visit: &mut dyn FnMut(&$leaf)) {
                visit(self)
            }
        }
        impl<M: Tree<M>> Mapped<$leaf, M> for $leaf {
            type To = M;
            fn map(&self, f: &mut dyn FnMut(&$leaf) -> M) -> M {
                f(self)
            }
        }
    )*};
}
leaf!(crate::Value, crate::Type, crate::Array, usize);

impl<L, T: Tree<L>> Tree<L> for Vec<T> {
    fn each(&self, visit: &mut dyn FnMut(&L)) {
        self.iter().for_each(|t| t.each(visit))
    }
    fn shape_of_tree(&self, lengths: &mut Vec<usize>) {
        lengths.push(self.len());
        self.iter().for_each(|t| t.shape_of_tree(lengths))
    }
}
impl<L, M, T: Mapped<L, M>> Mapped<L, M> for Vec<T> {
    type To = Vec<T::To>;
    fn map(&self, f: &mut dyn FnMut(&L) -> M) -> Vec<T::To> {
        self.iter().map(|t| t.map(f)).collect()
    }
}

macro_rules! tuple {
    ($($name:ident),*) => {
        impl<L, $($name: Tree<L>),*> Tree<L> for ($($name,)*) {
            #[allow(non_snake_case, unused_variables)]
            fn each(&self, visit: &mut dyn FnMut(&L)) {
                let ($($name,)*) = self;
                $($name.each(visit);)*
            }
            #[allow(non_snake_case, unused_variables)]
            fn shape_of_tree(&self, lengths: &mut Vec<usize>) {
                let ($($name,)*) = self;
                $($name.shape_of_tree(lengths);)*
            }
        }
        impl<L, M, $($name: Mapped<L, M>),*> Mapped<L, M> for ($($name,)*) {
            type To = ($($name::To,)*);
            #[allow(non_snake_case, unused_variables, clippy::unused_unit)]
            fn map(&self, f: &mut dyn FnMut(&L) -> M) -> Self::To {
                let ($($name,)*) = self;
                ($($name.map(f),)*)
            }
        }
    };
}
tuple!();
tuple!(A);
tuple!(A, B);
tuple!(A, B, C);
tuple!(A, B, C, D);
tuple!(A, B, C, D, E);
tuple!(A, B, C, D, E, F);

/// Makes a struct with one type parameter, the type of its leaves, a tree. Its fields are leaves or trees of such leaves:
/// other structs, tuples, vectors.
///
/// ```
/// struct State<T> {
///     angle: T,
///     speed: T,
/// }
/// ricci::tree_struct!(State { angle, speed });
/// struct Robot<T> {
///     body: State<T>,
///     arms: Vec<State<T>>,
///     load: T,
/// }
/// ricci::tree_struct!(Robot { body, arms, load });
/// ```
#[macro_export]
macro_rules! tree_struct {
    ($name:ident { $($field:ident),* $(,)? }) => {
        impl<L: $crate::Tree<L>> $crate::Tree<L> for $name<L> {
            fn each(&self, visit: &mut dyn FnMut(&L)) {
                $($crate::Tree::<L>::each(&self.$field, visit);)*
            }
            fn shape_of_tree(&self, lengths: &mut Vec<usize>) {
                $($crate::Tree::<L>::shape_of_tree(&self.$field, lengths);)*
            }
        }
        impl<L: $crate::Mapped<L, M, To = M>, M: $crate::Tree<M>> $crate::Mapped<L, M> for $name<L> {
            type To = $name<M>;
            fn map(&self, f: &mut dyn FnMut(&L) -> M) -> $name<M> {
                $name { $($field: $crate::Mapped::<L, M>::map(&self.$field, f)),* }
            }
        }
    };
}

//! Values at the border to Python, each with the type that the stub gives it.
//!
//! pyo3 knows the types of strings, numbers and classes. Every other type is written down here once
//! and goes with its values. `stubs.py` reads them from a build with the feature `inspect`; without
//! it they leave no trace in the module.

use std::convert::Infallible;
use std::marker::PhantomData;

use pyo3::exceptions::PyTypeError;
#[cfg(feature = "inspect")]
use pyo3::inspect::{PyStaticConstant, PyStaticExpr};
use pyo3::prelude::*;
use pyo3::types::{PySequence, PyString, PyTuple};
#[cfg(feature = "inspect")]
use pyo3::{type_hint_identifier, type_hint_subscript, type_hint_union};

use crate::text::{is_text, loads};

/// A type as Python writes it.
pub(crate) trait Hint {
    #[cfg(feature = "inspect")]
    const TYPE: PyStaticExpr;
}

/// A Python object that has the type `H`, or was given for one.
pub(crate) struct Typed<'py, H>(pub(crate) Bound<'py, PyAny>, PhantomData<H>);

impl<'py, H> Typed<'py, H> {
    pub(crate) fn new(value: Bound<'py, PyAny>) -> Self {
        Self(value, PhantomData)
    }
}

impl<'py, H: Hint> IntoPyObject<'py> for Typed<'py, H> {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = Infallible;
    #[cfg(feature = "inspect")]
    const OUTPUT_TYPE: PyStaticExpr = H::TYPE;

    fn into_pyobject(self, _py: Python<'py>) -> Result<Self::Output, Infallible> {
        Ok(self.0)
    }
}

/// Takes anything: who reads the value says what is wrong with it.
impl<'py, H: Hint> FromPyObject<'_, 'py> for Typed<'py, H> {
    type Error = Infallible;
    #[cfg(feature = "inspect")]
    const INPUT_TYPE: PyStaticExpr = H::TYPE;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> Result<Self, Infallible> {
        Ok(Self::new(value.to_owned()))
    }
}

/// `Hint` for types without parameters.
macro_rules! hint {
    ($($(#[$doc:meta])* $name:ident = $type:expr;)+) => {$(
        $(#[$doc])*
        pub(crate) enum $name {}

        impl Hint for $name {
            #[cfg(feature = "inspect")]
            const TYPE: PyStaticExpr = $type;
        }
    )+};
}

#[cfg(feature = "inspect")]
mod part {
    use super::{PyStaticExpr, type_hint_identifier, type_hint_subscript};

    pub(super) const STR: PyStaticExpr = type_hint_identifier!("builtins", "str");
    pub(super) const BYTES: PyStaticExpr = type_hint_identifier!("builtins", "bytes");
    pub(super) const ANY: PyStaticExpr = type_hint_identifier!("typing", "Any");
    pub(crate) const TUPLE: PyStaticExpr = type_hint_identifier!("builtins", "tuple");
    pub(super) const SEQUENCE: PyStaticExpr = type_hint_identifier!("collections.abc", "Sequence");
    pub(crate) const LITERAL: PyStaticExpr = type_hint_identifier!("typing", "Literal");
    pub(super) const PATH: PyStaticExpr = type_hint_subscript!(type_hint_identifier!("os", "PathLike"), STR);
    pub(super) const DICT: PyStaticExpr = type_hint_subscript!(type_hint_identifier!("builtins", "dict"), STR, ANY);
    pub(super) const MAPPING: PyStaticExpr =
        type_hint_subscript!(type_hint_identifier!("collections.abc", "Mapping"), STR, ANY);
}

#[cfg(feature = "inspect")]
use part::{BYTES, DICT, MAPPING, PATH, SEQUENCE, STR};
#[cfg(feature = "inspect")]
pub(crate) use part::{LITERAL, TUPLE};

hint! {
    /// What a function that always raises gives.
    NoReturn = type_hint_identifier!("typing", "NoReturn");
    /// A JSON object.
    Dict = DICT;
    /// An array of JSON objects.
    Dicts = type_hint_subscript!(type_hint_identifier!("builtins", "list"), DICT);
    /// A JSON object, or its text.
    Json = type_hint_union!(STR, BYTES, MAPPING);
    /// The arguments of a call. Frameworks hand on what they have as `object`, and whatever JSON it
    /// is, the model is told what is wrong with it.
    Arguments = type_hint_union!(STR, BYTES, MAPPING, type_hint_identifier!("builtins", "object"));
    /// Messages, or one: as objects or as JSON text.
    Messages = type_hint_union!(STR, BYTES, MAPPING, type_hint_subscript!(SEQUENCE, MAPPING));
    /// A tool array: as objects or as JSON text.
    ToolArray = type_hint_union!(STR, BYTES, type_hint_subscript!(SEQUENCE, MAPPING));
    /// A tool list in any form, as text or in a file.
    ToolList = type_hint_union!(
        STR, BYTES, PATH, MAPPING,
        type_hint_subscript!(type_hint_identifier!("collections.abc", "Iterable"), MAPPING)
    );
    /// A profile: a name, text, a file, or whether there is one.
    Profile = type_hint_union!(STR, BYTES, PATH, type_hint_identifier!("builtins", "bool"));
    /// One policy or several: a name, text or a file each.
    Policies = type_hint_union!(
        STR, BYTES, PATH, type_hint_subscript!(SEQUENCE, type_hint_union!(STR, BYTES, PATH))
    );
    /// One folder or several.
    Folders = type_hint_union!(STR, PATH, type_hint_subscript!(SEQUENCE, type_hint_union!(STR, PATH)));
    /// Who keeps approvals.
    Approvals = type_hint_union!(<crate::approver::Approver as pyo3::PyTypeInfo>::TYPE_HINT, STR, PATH);
}

/// JSON text as a dict. Integers keep every digit.
pub(crate) fn dict<'py>(py: Python<'py>, text: &str) -> PyResult<Typed<'py, Dict>> {
    loads(py, text).map(Typed::new)
}

/// JSON text as a list of dicts. Integers keep every digit.
pub(crate) fn dicts<'py>(py: Python<'py>, text: &str) -> PyResult<Typed<'py, Dicts>> {
    loads(py, text).map(Typed::new)
}

/// A tuple of any length, all of one type.
pub(crate) struct Tuple<T>(PhantomData<T>);

impl<T: for<'py> IntoPyObject<'py>> Hint for Tuple<T> {
    #[cfg(feature = "inspect")]
    const TYPE: PyStaticExpr = type_hint_subscript!(
        TUPLE,
        <T as IntoPyObject<'static>>::OUTPUT_TYPE,
        PyStaticExpr::Constant { value: PyStaticConstant::Ellipsis }
    );
}

/// These values as a tuple.
pub(crate) fn tuple<'py, T: IntoPyObject<'py>>(
    py: Python<'py>,
    values: impl IntoIterator<Item = T, IntoIter: ExactSizeIterator>,
) -> PyResult<Typed<'py, Tuple<T>>> {
    PyTuple::new(py, values).map(|made| Typed::new(made.into_any()))
}

/// A list, a tuple or another sequence that is no string.
pub(crate) struct Sequence<T>(pub(crate) Vec<T>);

impl<'py, T: for<'a> FromPyObject<'a, 'py>> FromPyObject<'_, 'py> for Sequence<T> {
    type Error = PyErr;
    #[cfg(feature = "inspect")]
    const INPUT_TYPE: PyStaticExpr = type_hint_subscript!(SEQUENCE, T::INPUT_TYPE);

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let items = value.cast::<PySequence>().ok().filter(|_| !is_text(&value));
        let items = items.ok_or_else(|| PyTypeError::new_err("must be a list or a tuple"))?;
        items.try_iter()?.map(|item| item?.extract().map_err(Into::into)).collect::<PyResult<_>>().map(Self)
    }
}

/// A closed list of names: a `Literal` of each.
pub(crate) trait Names: Hint {
    const NAMES: &'static [&'static str];
}

/// A name out of a closed list. Debug builds hold it against the list, so that tests find a name
/// that is missing there.
pub(crate) fn name<'py, N: Names>(py: Python<'py>, name: &str) -> Typed<'py, N> {
    debug_assert!(N::NAMES.contains(&name), "`{name}` is none of {:?}", N::NAMES);
    Typed::new(PyString::new(py, name).into_any())
}

#[cfg(feature = "inspect")]
pub(crate) const fn text(value: &'static str) -> PyStaticExpr {
    PyStaticExpr::Constant { value: PyStaticConstant::Str(value) }
}

macro_rules! names {
    ($($(#[$doc:meta])* $name:ident: $($text:literal),+;)+) => {$(
        $(#[$doc])*
        pub(crate) enum $name {}

        impl Names for $name {
            const NAMES: &'static [&'static str] = &[$($text),+];
        }

        impl Hint for $name {
            #[cfg(feature = "inspect")]
            const TYPE: PyStaticExpr = type_hint_subscript!(LITERAL, $(text($text)),+);
        }
    )+};
}

names! {
    /// How much of a tool is sent.
    Detail: "full", "signature", "outline", "required", "summary", "index";
    /// Why a call was answered without being run.
    ReplyKind: "expanded", "activated", "invalid", "shown", "unknown_tool", "loop";
    /// What policy said.
    PolicyMark: "off", "not_asked", "allow", "allow_audited", "confirm", "deny";
    /// How an approval stands.
    ApprovalState: "pending", "approved", "rejected", "consumed", "expired";
}

/// A class with positional patterns: `case Forward(target, arguments)`.
pub(crate) trait Matched {
    const FIELDS: &'static [&'static str];
    #[cfg(feature = "inspect")]
    const TYPE: PyStaticExpr;
}

/// The fields of `T`, name by name, as type checkers want them.
pub(crate) struct MatchArgs<T>(PhantomData<T>);

impl<T: Matched> Hint for MatchArgs<T> {
    #[cfg(feature = "inspect")]
    const TYPE: PyStaticExpr = T::TYPE;
}

/// The value of `__match_args__`.
pub(crate) fn match_args<T: Matched>(py: Python<'_>) -> PyResult<Typed<'_, MatchArgs<T>>> {
    PyTuple::new(py, T::FIELDS).map(|made| Typed::new(made.into_any()))
}

/// `Matched` for a class: `matched!(Forward, "target", "arguments")`.
macro_rules! matched {
    ($class:ident, $($field:literal),+) => {
        impl $crate::typed::Matched for $class {
            const FIELDS: &'static [&'static str] = &[$($field),+];
            #[cfg(feature = "inspect")]
            const TYPE: pyo3::inspect::PyStaticExpr = pyo3::type_hint_subscript!(
                $crate::typed::TUPLE,
                $(pyo3::type_hint_subscript!($crate::typed::LITERAL, $crate::typed::text($field))),+
            );
        }
    };
}
pub(crate) use matched;

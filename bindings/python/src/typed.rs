//! Values passed to and from Python, each with its type in the stub.
//!
//! pyo3 knows the types of strings, numbers and classes. Every other type is declared here once,
//! with its values. `stubs.py` reads them from a build with the feature `inspect`; without it they
//! add nothing to the module.

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

/// A type in Python's syntax.
pub(crate) trait Hint {
    #[cfg(feature = "inspect")]
    const TYPE: PyStaticExpr;
}

/// A Python object of type `H`, or passed as one.
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

/// Accepts anything: the code that reads the value reports what is wrong.
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
use part::{ANY, BYTES, DICT, MAPPING, PATH, SEQUENCE, STR};
#[cfg(feature = "inspect")]
pub(crate) use part::{LITERAL, TUPLE};

hint! {
    /// The return type of a function that always raises.
    NoReturn = type_hint_identifier!("typing", "NoReturn");
    /// What `pickle` stores of an object: a function and its argument.
    Pickled = type_hint_subscript!(TUPLE, type_hint_identifier!("typing", "Any"), type_hint_subscript!(TUPLE, STR));
    /// Any object.
    Anything = type_hint_identifier!("builtins", "object");
    /// A JSON object.
    Dict = DICT;
    /// An array of JSON objects.
    Dicts = type_hint_subscript!(type_hint_identifier!("builtins", "list"), DICT);
    /// Tools or messages in the wire's format. `Any` replaces the types of each provider's SDK.
    Wired = type_hint_subscript!(type_hint_identifier!("builtins", "list"), ANY);
    /// An assistant message: an object, or a list of items.
    Message = type_hint_union!(DICT, type_hint_subscript!(type_hint_identifier!("builtins", "list"), DICT));
    /// A JSON object, or its text.
    Json = type_hint_union!(STR, BYTES, MAPPING);
    /// The arguments of a call. Frameworks pass them as `object`; whatever JSON it is, the model
    /// gets the error.
    Arguments = type_hint_union!(STR, BYTES, MAPPING, type_hint_identifier!("builtins", "object"));
    /// Messages, or one: as objects, as objects of the provider's SDK, or as JSON text.
    Messages = type_hint_union!(
        STR, BYTES, MAPPING, type_hint_subscript!(SEQUENCE, MAPPING), type_hint_identifier!("builtins", "object")
    );
    /// A tool array: as objects or as JSON text.
    ToolArray = type_hint_union!(STR, BYTES, type_hint_subscript!(SEQUENCE, MAPPING));
    /// A tool list in any form, as text or in a file.
    ToolList = type_hint_union!(
        STR, BYTES, PATH, MAPPING,
        type_hint_subscript!(type_hint_identifier!("collections.abc", "Iterable"), MAPPING)
    );
    /// Functions of any signature.
    Functions = type_hint_subscript!(
        type_hint_identifier!("collections.abc", "Iterable"),
        type_hint_subscript!(
            type_hint_identifier!("collections.abc", "Callable"),
            PyStaticExpr::Constant { value: PyStaticConstant::Ellipsis },
            ANY
        )
    );
    /// A profile: a name, text, a file, or a boolean.
    Profile = type_hint_union!(STR, BYTES, PATH, type_hint_identifier!("builtins", "bool"));
    /// One policy or several, each a name, text or a file.
    Policies = type_hint_union!(
        STR, BYTES, PATH, type_hint_subscript!(SEQUENCE, type_hint_union!(STR, BYTES, PATH))
    );
    /// One folder or several.
    Folders = type_hint_union!(STR, PATH, type_hint_subscript!(SEQUENCE, type_hint_union!(STR, PATH)));
    /// What stores approvals.
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

/// JSON text as tools or messages of a wire. Integers keep every digit.
pub(crate) fn wired<'py>(py: Python<'py>, text: &str) -> PyResult<Typed<'py, Wired>> {
    loads(py, text).map(Typed::new)
}

/// JSON text as an assistant message. Integers keep every digit.
pub(crate) fn message<'py>(py: Python<'py>, text: &str) -> PyResult<Typed<'py, Message>> {
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

/// The maximum number of items for which memory is reserved before they are read: a class of the
/// host can report any length.
const LENGTH_TRUSTED: usize = 4096;

/// A list, a tuple or another sequence that is not a string.
pub(crate) struct Sequence<T>(pub(crate) Vec<T>);

impl<'py, T: for<'a> FromPyObject<'a, 'py>> FromPyObject<'_, 'py> for Sequence<T> {
    type Error = PyErr;
    #[cfg(feature = "inspect")]
    const INPUT_TYPE: PyStaticExpr = type_hint_subscript!(SEQUENCE, T::INPUT_TYPE);

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let items = value.cast::<PySequence>().ok().filter(|_| !is_text(&value));
        let items = items.ok_or_else(|| PyTypeError::new_err("must be a list or a tuple"))?;
        // `collect` asks Python for the length of what is left each time that it needs room.
        let mut read = Vec::with_capacity(items.len()?.min(LENGTH_TRUSTED));
        for item in items.try_iter()? {
            read.push(item?.extract().map_err(Into::into)?);
        }
        Ok(Self(read))
    }
}

/// A closed list of names: a `Literal` of each.
pub(crate) trait Names: Hint {
    const NAMES: &'static [&'static str];
}

/// A name of a closed list. Debug builds check that the list contains it, so that tests find a
/// missing one.
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
    /// The detail of a tool.
    Detail: "full", "signature", "outline", "required", "summary", "index", "search";
    /// The kind of a reply.
    ReplyKind: "expanded", "activated", "invalid", "shown", "unknown_tool", "loop", "finished";
    /// A policy's decision.
    PolicyMark: "off", "not_asked", "allow", "allow_audited", "confirm", "deny";
    /// The state of an approval.
    ApprovalState: "pending", "approved", "rejected", "consumed", "expired";
}

/// A class with positional patterns: `case Forward(target, arguments)`.
pub(crate) trait Matched {
    const FIELDS: &'static [&'static str];
    #[cfg(feature = "inspect")]
    const TYPE: PyStaticExpr;
}

/// The fields of `T`, by name, for type checkers.
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

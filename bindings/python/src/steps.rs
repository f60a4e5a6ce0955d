//! The history of a framework, without the messages of a wire.

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
#[cfg(feature = "inspect")]
use pyo3::type_hint_union;
use pyo3::types::PyTuple;
use toolfold::conversation::{CallId, PastStep};
use toolfold::wire::Arguments;

use crate::settings::wrong_kind;
use crate::text::json_text;
use crate::typed::{Json, Typed};

/// A call: its id, its name, its arguments.
type Call<'py> = (PyBackedStr, PyBackedStr, Option<Typed<'py, Json>>);
/// The answer of a call: its id, and whether the tool succeeded.
type Answer = (PyBackedStr, bool);

/// One step: `(id, name, arguments)` for a call, `(id, ok)` for its answer.
pub(crate) enum Step<'py> {
    Call(Call<'py>),
    Answer(Answer),
}

impl<'py> FromPyObject<'_, 'py> for Step<'py> {
    type Error = PyErr;
    #[cfg(feature = "inspect")]
    const INPUT_TYPE: pyo3::inspect::PyStaticExpr =
        type_hint_union!(<Call<'_> as FromPyObject<'_, '_>>::INPUT_TYPE, Answer::INPUT_TYPE);

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        // Failing to read one as the other would create an exception for each step of a history.
        let is_call = value.cast::<PyTuple>().is_ok_and(|parts| parts.len() == 3);
        let step = if is_call { value.extract().map(Self::Call) } else { value.extract().map(Self::Answer) };
        step.or_else(|_: PyErr| Err(wrong_kind(&value, "a step", "a tuple (id, name, arguments) or (id, ok)")?))
    }
}

impl Step<'_> {
    /// Converts the step for the library.
    pub(crate) fn into_past_step(self) -> PyResult<PastStep> {
        Ok(match self {
            Self::Call((id, name, arguments)) => PastStep::Call {
                id: CallId::from(&*id),
                name: name.to_string(),
                arguments: arguments_of(arguments.as_ref().map(|given| &given.0))?,
            },
            Self::Answer((id, ok)) => PastStep::Result { id: CallId::from(&*id), ok },
        })
    }
}

/// The arguments of a call: JSON text as the model wrote it, or a mapping. None means no arguments.
pub(crate) fn arguments_of(value: Option<&Bound<'_, PyAny>>) -> PyResult<Arguments> {
    let text = value.map(|value| json_text(value, "the arguments")).transpose()?;
    Ok(Arguments::from_text(&text.unwrap_or_default()))
}

//! What a framework's own history tells, without any wire's messages.

use pyo3::prelude::*;
use toolfold::conversation::{CallId, PastStep};
use toolfold::wire::Arguments;

use crate::text::json_text;

/// One step: `(id, name, arguments)` for a call, `(id, ok)` for its answer.
#[derive(FromPyObject)]
pub(crate) enum Step<'py> {
    /// The model called.
    Call(String, String, Bound<'py, PyAny>),
    /// A call was answered.
    Result(String, bool),
}

impl Step<'_> {
    /// The step as the library takes it.
    pub(crate) fn read(self) -> PyResult<PastStep> {
        Ok(match self {
            Self::Call(id, name, arguments) => {
                PastStep::Call { id: CallId::from(id), name, arguments: arguments_of(&arguments)? }
            }
            Self::Result(id, ok) => PastStep::Result { id: CallId::from(id), ok },
        })
    }
}

/// The arguments of a call: JSON text as the model wrote it, or a mapping. None is no arguments.
pub(crate) fn arguments_of(value: &Bound<'_, PyAny>) -> PyResult<Arguments> {
    let text = if value.is_none() { String::new() } else { json_text(value, "the arguments")? };
    Ok(Arguments::from_text(&text))
}

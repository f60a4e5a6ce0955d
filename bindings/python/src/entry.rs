//! Tools in neutral form, for hosts that write requests themselves.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use toolfold::conversation;
use toolfold::wire::ToolEntry;

use crate::text::loads;
use crate::typed::{self, Detail, Dict, MatchArgs, Typed, dict, matched};

/// A tool as the model is shown it, for frameworks that write the request themselves.
///
/// ``parameters`` is one object for the life of the entry: copy it before changing it.
#[pyclass(frozen, eq, module = "toolfold")]
pub(crate) struct Entry {
    inner: ToolEntry,
    parameters: PyOnceLock<Py<PyAny>>,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.inner == other.inner
    }
}

impl From<ToolEntry> for Entry {
    fn from(inner: ToolEntry) -> Self {
        Self { inner, parameters: PyOnceLock::new() }
    }
}

matched!(Entry, "name", "description", "parameters");

#[pymethods]
impl Entry {
    #[classattr]
    fn __match_args__(py: Python<'_>) -> PyResult<Typed<'_, MatchArgs<Entry>>> {
        typed::match_args(py)
    }

    /// The name under which the model sees the tool.
    #[getter]
    fn name(&self) -> &str {
        &self.inner.name
    }

    /// The description at its detail; empty if there is none.
    #[getter]
    fn description(&self) -> &str {
        &self.inner.description
    }

    /// The JSON Schema of the arguments at its detail, as a dict.
    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Typed<'py, Dict>> {
        let made = self.parameters.get_or_try_init(py, || loads(py, &self.inner.parameters).map(Bound::unbind))?;
        Ok(Typed::new(made.bind(py).clone()))
    }

    /// The same as compact JSON text.
    #[getter]
    fn parameters_json(&self) -> &str {
        &self.inner.parameters
    }

    /// Whether the provider must enforce the schema. Never set on a folded tool.
    #[getter]
    fn strict(&self) -> bool {
        self.inner.strict
    }

    /// The detail of the tool: full, signature, outline, required, summary, index or search.
    #[getter]
    fn detail<'py>(&self, py: Python<'py>) -> Typed<'py, Detail> {
        typed::name(py, self.inner.detail.name())
    }

    /// Whether the provider keeps it out of the prompt until it is found.
    #[getter]
    fn deferred(&self) -> bool {
        self.inner.deferred
    }

    /// Whether it is one of toolfold's meta-tools, such as ``expand_tools``, which no host runs.
    #[getter]
    fn own(&self) -> bool {
        self.inner.own
    }

    fn __repr__(&self) -> String {
        format!("Entry(name={:?}, detail={:?}, own={})", self.name(), self.inner.detail.name(), python_bool(self.own()))
    }
}

/// A tool whose full schema an answer contains, for hosts with an append channel.
#[pyclass(frozen, eq, module = "toolfold")]
#[derive(Debug, PartialEq)]
pub(crate) struct OpenedTool {
    name: String,
    description: String,
    parameters: Arc<serde_json::Value>,
}

impl From<&conversation::OpenedTool> for OpenedTool {
    fn from(tool: &conversation::OpenedTool) -> Self {
        let (name, description) = (tool.name.clone(), tool.description.clone());
        Self { name, description, parameters: tool.parameters.clone() }
    }
}

matched!(OpenedTool, "name", "description", "parameters");

#[pymethods]
impl OpenedTool {
    #[classattr]
    fn __match_args__(py: Python<'_>) -> PyResult<Typed<'_, MatchArgs<OpenedTool>>> {
        typed::match_args(py)
    }

    /// The name under which the model sees the tool.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// The full description.
    #[getter]
    fn description(&self) -> &str {
        &self.description
    }

    /// The full JSON Schema of the arguments, as a new dict.
    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Typed<'py, Dict>> {
        dict(py, &self.parameters.to_string())
    }

    fn __repr__(&self) -> String {
        format!("OpenedTool(name={:?})", self.name)
    }
}

/// A boolean in Python's syntax.
pub(crate) fn python_bool(value: bool) -> &'static str {
    if value { "True" } else { "False" }
}

//! Text in and out: JSON with Python's own parser and writer, and values given as text, file or
//! object.

use std::path::PathBuf;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyBytes, PyDict, PyInt, PyString, PyType};
use serde_json::{Map, Value};

use crate::error::{Kind, Trouble};

/// Maximum size of a file in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// JSON text as Python objects. Integers keep every digit.
pub(crate) fn loads<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    static LOADS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let value = LOADS.import(py, "json", "loads")?.call1((text,));
    // Python rejects integers of more than 4,300 digits (`sys.set_int_max_str_digits`).
    value.map_err(|why| Trouble::new(Kind::Input, format!("Python cannot hold this JSON as objects: {why}")).into())
}

/// An encoder of `json` that writes compact JSON.
fn encoder<'py>(py: Python<'py>, ascii: bool) -> PyResult<Bound<'py, PyAny>> {
    static WHOLE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    static ASCII: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let cell = if ascii { &ASCII } else { &WHOLE };
    let made = cell.get_or_try_init(py, || {
        let options = PyDict::new(py);
        options.set_item("ensure_ascii", ascii)?;
        options.set_item("separators", (",", ":"))?;
        options.set_item("default", pyo3::wrap_pyfunction!(plain, py)?)?;
        let encoder = py.import("json")?.getattr("JSONEncoder")?.call((), Some(&options))?;
        Ok::<_, PyErr>(encoder.getattr("encode")?.unbind())
    })?;
    Ok(made.bind(py).clone())
}

/// Objects as JSON text; `str` and `bytes` already are JSON text.
///
/// `what` names the value in the error.
pub(crate) fn json_text(value: &Bound<'_, PyAny>, what: &str) -> PyResult<String> {
    if let Some(text) = given_text(value, what)? {
        return Ok(text);
    }
    if let Some(text) = value.cast_exact::<PyDict>().ok().and_then(flat_text) {
        return Ok(text);
    }
    let py = value.py();
    let bad = |why: &PyErr| -> PyErr {
        Trouble::new(Kind::Input, format!("{what} cannot be written as JSON: {}", why.value(py))).into()
    };
    let written = encoder(py, false)?.call1((value,)).map_err(|why| bad(&why))?.cast_into::<PyString>()?;
    match written.to_str() {
        Ok(text) => Ok(text.to_owned()),
        // Half of a surrogate pair is not valid text: it is escaped, and the gate reports it to the
        // model.
        Err(_) => encoder(py, true)?.call1((value,)).map_err(|why| bad(&why))?.extract(),
    }
}

/// A dict of texts, booleans, small integers and None, which most arguments are, as the encoder
/// writes it. `None` if it contains anything else.
fn flat_text(value: &Bound<'_, PyDict>) -> Option<String> {
    let mut members = Map::new();
    for (name, value) in value.iter() {
        let own = if let Ok(text) = value.cast_exact::<PyString>() {
            text.to_str().ok()?.into()
        } else if value.is_none() {
            Value::Null
        } else if let Ok(flag) = value.cast_exact::<PyBool>() {
            flag.is_true().into()
        } else {
            value.cast_exact::<PyInt>().ok()?.extract::<i64>().ok()?.into()
        };
        members.insert(name.cast_exact::<PyString>().ok()?.to_str().ok()?.to_owned(), own);
    }
    Some(Value::Object(members).to_string())
}

/// What `json` writes for an object that it does not know: a mapping as a `dict`, and an object of
/// a provider's SDK as that SDK writes it (`model_dump`), without members that are None.
#[pyfunction]
fn plain<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = value.py();
    if let Ok(mapping) = value.cast::<pyo3::types::PyMapping>() {
        return py.get_type::<PyDict>().call1((mapping,));
    }
    if value.hasattr("model_dump")? && !value.is_instance_of::<PyType>() {
        let options = PyDict::new(py);
        options.set_item("mode", "json")?;
        options.set_item("exclude_none", true)?;
        return value.call_method("model_dump", (), Some(&options));
    }
    let kind = value.get_type();
    Err(PyTypeError::new_err(format!("Object of type {} is not JSON serializable", kind.name()?)))
}

/// Whether this is `str` or `bytes`, which are sequences but not of accepted items.
pub(crate) fn is_text(value: &Bound<'_, PyAny>) -> bool {
    value.is_instance_of::<PyString>() || value.is_instance_of::<PyBytes>()
}

/// The text of a `str` or of UTF-8 `bytes`; `None` for anything else.
pub(crate) fn given_text(value: &Bound<'_, PyAny>, what: &str) -> PyResult<Option<String>> {
    let bad =
        |why: &dyn std::fmt::Display| Trouble::new(Kind::Input, format!("{what} cannot be read as UTF-8 text: {why}"));
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Some(text.to_str().map_err(|why| bad(&why))?.to_owned()));
    }
    if let Ok(bytes) = value.cast::<PyBytes>() {
        return Ok(Some(std::str::from_utf8(bytes.as_bytes()).map_err(|why| bad(&why))?.to_owned()));
    }
    Ok(None)
}

/// A value given as text or as a file.
#[derive(Debug, Clone)]
pub(crate) enum Source {
    /// The text itself, with its name in diagnostics.
    Text(String, &'static str),
    /// A file.
    File(PathBuf),
}

impl Source {
    /// A `str` for which `is_text` is true is the text itself; any other `str`, and a `Path`, is a
    /// file. `None` for anything else.
    pub(crate) fn from_python(
        value: &Bound<'_, PyAny>,
        what: &'static str,
        is_text: fn(&str) -> bool,
    ) -> PyResult<Option<Self>> {
        match given_text(value, what)? {
            Some(text) if is_text(&text) => Ok(Some(Self::Text(text, what))),
            Some(text) => Ok(Some(Self::File(PathBuf::from(text)))),
            None => Ok(value.extract::<PathBuf>().ok().map(Self::File)),
        }
    }

    /// The text, and its name in diagnostics.
    pub(crate) fn read_source(self) -> Result<(String, String), Trouble> {
        match self {
            Self::Text(text, name) => Ok((text, name.to_owned())),
            Self::File(path) => {
                let name = path.to_string_lossy().into_owned();
                Ok((read_file(&path).map_err(|why| Trouble::new(Kind::Input, format!("{name}: {why}")))?, name))
            }
        }
    }

    pub(crate) fn path(&self) -> Option<&std::path::Path> {
        match self {
            Self::Text(..) => None,
            Self::File(path) => Some(path),
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "an edge: files that the host names are read here, with a size limit")]
fn read_file(path: &std::path::Path) -> Result<String, String> {
    let found = std::fs::metadata(path).map_err(|why| format!("cannot be read: {why}"))?;
    if found.is_dir() {
        return Err("is a folder, not a file".to_owned());
    }
    if found.len() > MAX_BYTES {
        return Err(format!("has {} bytes, at most {MAX_BYTES} are read", found.len()));
    }
    std::fs::read_to_string(path).map_err(|why| format!("cannot be read: {why}"))
}

//! The approver's access to approvals.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::prelude::*;
use toolfold::policy::gate::open;
use toolfold::policy::{self, ApprovalError, ApprovalStore};
use toolfold::store::SqliteStore;
use toolfold_cli::edge::now_ms;

use crate::error::{Kind, Trouble, detached, not_pickled};
use crate::typed::{self, Anything, ApprovalState, Dict, NoReturn, Tuple, Typed, dict, tuple};

/// Lists the calls that wait for approval, and approves or rejects them. Nothing else can.
///
/// Only a person should have access to it. Several processes may open the same file; ``toolfold
/// approvals`` on the command line is another approver. Store the file outside every folder that
/// tools can write to.
///
/// :param path: the SQLite file, created if it does not exist; None stores approvals in the memory
///     of this process.
/// :param by: the name of the approver, for the audit trail.
/// :raises ApprovalError: the file cannot be opened, or is not a store.
#[pyclass(frozen, weakref, module = "toolfold")]
pub(crate) struct Approver {
    store: Arc<SqliteStore>,
    file: Option<PathBuf>,
    by: String,
    person: policy::Approver,
}

fn trouble(why: &ApprovalError) -> Trouble {
    Trouble::new(Kind::Approval, why)
}

impl Approver {
    pub(crate) fn store(&self) -> Arc<SqliteStore> {
        self.store.clone()
    }

    pub(crate) fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    fn one(
        py: Python<'_>,
        work: impl FnOnce() -> Result<policy::Approval, ApprovalError> + Send,
    ) -> PyResult<Approval> {
        detached(py, || work().map(|inner| Approval { inner }).map_err(|why| trouble(&why)))
    }
}

#[pymethods]
impl Approver {
    #[new]
    #[pyo3(signature = (path=None, *, by="the host"))]
    fn new(py: Python<'_>, path: Option<PathBuf>, by: &str) -> PyResult<Self> {
        detached(py, || {
            let store = match &path {
                Some(path) => crate::layers::open_store(path)?,
                None => SqliteStore::in_memory().map_err(|why| trouble(&why))?,
            };
            let store = Arc::new(store);
            let (_, person) = open(store.clone());
            Ok(Self { store, file: path, by: by.to_owned(), person: person.named(by) })
        })
    }

    /// The pending approvals, oldest first: a tuple of Approval.
    ///
    /// :raises ApprovalError: the store cannot be read.
    fn pending<'py>(&self, py: Python<'py>) -> PyResult<Typed<'py, Tuple<Approval>>> {
        let waiting = detached(py, || self.store.pending(now_ms()).map_err(|why| trouble(&why)))?;
        tuple(py, waiting.into_iter().map(|inner| Approval { inner }))
    }

    /// The approval with this id, in any state.
    ///
    /// :raises ApprovalError: the id is unknown.
    fn get(&self, py: Python<'_>, approval: &str) -> PyResult<Approval> {
        Self::one(py, || self.store.get(approval))
    }

    /// Approves one call, once. The conversation continues with ``resume``, or when the model
    /// repeats the call.
    ///
    /// :param approval: the id of the approval: ``Confirm.approval``, ``Approval.id``.
    /// :param edited: the approval that was shown first, if the person changed its arguments to
    ///     those of this one. The record names it.
    /// :returns: the approval in its new state.
    /// :raises ApprovalError: it is not pending: it was decided, used or has expired.
    #[pyo3(signature = (approval, *, edited=None))]
    fn approve(&self, py: Python<'_>, approval: &str, edited: Option<&str>) -> PyResult<Approval> {
        Self::one(py, || match edited {
            None => self.person.approve(approval, now_ms()),
            Some(first) => {
                let (_, person) = open(self.store.clone());
                person.named(format!("{}, who edited {first}", self.by)).approve(approval, now_ms())
            }
        })
    }

    /// Rejects one call permanently. The model gets the reason.
    ///
    /// :param approval: the id of the approval.
    /// :param reason: the reason, in one sentence; None for no reason.
    /// :returns: the approval in its new state.
    /// :raises ApprovalError: it is not pending.
    #[pyo3(signature = (approval, reason=None))]
    fn reject(&self, py: Python<'_>, approval: &str, reason: Option<&str>) -> PyResult<Approval> {
        Self::one(py, || self.person.reject(approval, reason, now_ms()))
    }

    /// Verifies the audit chain, and that it matches the stored approvals.
    ///
    /// :returns: the faults: a tuple of lines; empty if there are none.
    /// :raises ApprovalError: the store cannot be read.
    fn verify<'py>(&self, py: Python<'py>) -> PyResult<Typed<'py, Tuple<String>>> {
        let verified = detached(py, || self.store.verify(&[]).map_err(|why| trouble(&why)))?;
        tuple(py, verified.faults.iter().map(ToString::to_string))
    }

    fn __repr__(&self) -> String {
        match &self.file {
            Some(path) => format!("Approver({:?})", path.to_string_lossy()),
            None => "Approver()".to_owned(),
        }
    }

    /// Itself: it can be shared.
    fn __copy__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    /// Itself: it can be shared.
    fn __deepcopy__<'py>(slf: Bound<'py, Self>, memo: Typed<'py, Anything>) -> Bound<'py, Self> {
        drop(memo);
        slf
    }

    fn __reduce__(&self) -> PyResult<Typed<'_, NoReturn>> {
        not_pickled("an Approver", "open the same file again, Approver(path)")
    }
}

/// A call that requires or required approval.
#[pyclass(frozen, eq, module = "toolfold")]
#[derive(Debug, PartialEq)]
pub(crate) struct Approval {
    inner: policy::Approval,
}

impl Approval {
    fn state_now(&self) -> String {
        self.inner.state_at(now_ms()).to_string()
    }
}

#[pymethods]
impl Approval {
    /// Its id, for ``Approver.approve`` and ``Conversation.resume``.
    #[getter]
    fn id(&self) -> &str {
        &self.inner.id
    }

    /// The tool's name at its host.
    #[getter]
    fn tool(&self) -> &str {
        &self.inner.request.tool
    }

    /// The arguments that would run, as a new dict. Integers keep every digit.
    ///
    /// :raises InputError: an integer has more digits than Python reads
    ///     (``sys.set_int_max_str_digits``).
    #[getter]
    fn arguments<'py>(&self, py: Python<'py>) -> PyResult<Typed<'py, Dict>> {
        let request = &self.inner.request;
        dict(py, &request.arguments_json.clone().unwrap_or_else(|| request.arguments.to_string()))
    }

    /// What to show the approver: a dict with target (str), arguments (JSON text), effects (list of
    /// str), undo (str), why (list of str) and remember (list of dicts: what may be remembered).
    #[getter]
    fn shown<'py>(&self, py: Python<'py>) -> PyResult<Typed<'py, Dict>> {
        dict(py, &serde_json::to_string(&self.inner.request.displayed).unwrap_or_default())
    }

    /// The current state: pending, approved, rejected, consumed (it ran) or expired.
    #[getter]
    fn state<'py>(&self, py: Python<'py>) -> Typed<'py, ApprovalState> {
        typed::name(py, &self.state_now())
    }

    /// The reason of a rejection; None if there is none.
    #[getter]
    fn reason(&self) -> Option<&str> {
        self.inner.reason.as_deref()
    }

    /// The approver, and the id of the approval that was edited, if the person changed the
    /// arguments; None while it is pending.
    #[getter]
    fn by(&self) -> Option<&str> {
        self.inner.answered_by.as_deref()
    }

    /// The host's id of the conversation; empty if it has none.
    #[getter]
    fn conversation(&self) -> &str {
        &self.inner.request.session
    }

    /// The id of the call.
    #[getter]
    fn call(&self) -> &str {
        &self.inner.request.call_id
    }

    fn __repr__(&self) -> String {
        format!("Approval(id={:?}, tool={:?}, state={:?})", self.id(), self.tool(), self.state_now())
    }
}

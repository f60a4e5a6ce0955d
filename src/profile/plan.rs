//! The plan: the current form of each tool.

use std::sync::Arc;

use indexmap::IndexSet;
use serde::{Deserialize, Serialize};

use super::cost::{LETTERS, MOST_LETTERS, definition_tokens, full_tokens};
use super::expand::{Deferred, bridges, deferred, expand_tools};
use super::fold::{FoldedForm, hidden};
use super::search::ToolSearch;
use super::{Arm, Assigned, Assignment, CatalogNames, Delivery, Detail, Folded, Naming, Tier};
use crate::catalog::{Catalog, Tool};
use crate::name::{CategoryName, ToolName};

/// What a session has opened, in order. Tools stay open for the whole session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expanded {
    categories: IndexSet<CategoryName>,
    tools: IndexSet<ToolName>,
}

impl Expanded {
    /// Opens a category. Returns whether it was closed before.
    pub(crate) fn open_category(&mut self, name: CategoryName) -> bool {
        self.categories.insert(name)
    }

    /// Opens one tool. Returns whether it was closed before.
    pub(crate) fn open_tool(&mut self, name: ToolName) -> bool {
        self.tools.insert(name)
    }

    /// Whether a tool is open, by its own name or by its category.
    #[must_use]
    pub fn opens_tool(&self, tool: &str, category: &str) -> bool {
        self.tools.contains(tool) || self.categories.contains(category)
    }

    /// Whether a category is open.
    pub(crate) fn opens_category(&self, name: &CategoryName) -> bool {
        self.categories.contains(name)
    }

    /// The opened categories.
    pub(crate) fn categories(&self) -> impl Iterator<Item = &CategoryName> {
        self.categories.iter()
    }

    /// The tools opened by name.
    pub(crate) fn tools(&self) -> impl Iterator<Item = &ToolName> {
        self.tools.iter()
    }
}

/// A catalog under a profile and an arm: every form that tools can take, computed once, and the
/// meta-tools.
///
/// It does not depend on what a session has opened; [`Presentation::plan`] adds that.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Presentation {
    /// The categories with folded tools, each with their indices in the catalog.
    pub deferred: Vec<Deferred>,
    /// The meta-tools that follow the catalog's tools: `expand_tools` if something is folded, and
    /// `call_tool` if folded tools are called through it.
    pub meta_tools: Vec<Tool>,
    arm: Arm,
    /// The form of each tool while it is closed, in catalog order; `None` for a hidden tool.
    closed: Vec<Option<FoldedForm>>,
    search: Arc<ToolSearch>,
}

impl Presentation {
    /// Computes every form of a catalog's tools under an arm. Nothing is folded if that would save
    /// less than the required meta-tools cost.
    #[must_use]
    pub fn new(catalog: &Catalog, assignment: &Assignment, arm: Arm) -> Self {
        let mut closed = Vec::with_capacity(catalog.len());
        for (tool, assigned) in catalog.iter().zip(assignment.tools.iter()) {
            closed.push(closed_form(tool, assigned, arm));
        }
        let mut presentation =
            Self { arm, closed, deferred: Vec::new(), meta_tools: Vec::new(), search: Arc::default() };
        presentation.deferred = deferred(assignment, |at| presentation.is_folded(at));
        presentation.meta_tools = presentation.meta_tools_as(catalog, &CatalogNames);
        if presentation.saves(catalog) { presentation } else { presentation.unfolded() }
    }

    /// Whether folding saves more than its meta-tools cost, in estimated tokens of OpenAI, which
    /// bills the fewest of the providers. The saving must be nine twentieths more, because the
    /// estimate of a short text can be off by a fifth, and a fifth more where long words are billed
    /// as one token. With this rule, no arm of 7,700 generated lists (11 seeds of the test
    /// `dearer`) and 44 real ones is billed more than `full`.
    fn saves(&self, catalog: &Catalog) -> bool {
        let native = self.arm.delivery() == Delivery::Native;
        let cost: usize = self.meta_tools.iter().map(|tool| full_tokens(tool).max(definition_tokens(tool))).sum();
        let exceeds = |letters: usize, least: usize| {
            let mut saved = 0;
            // A few tools usually decide the result.
            catalog.iter().zip(&self.closed).any(|(tool, form)| {
                saved += form.as_ref().map_or(0, |form| form.saved_tokens(tool, native, letters));
                saved > least
            })
        };
        exceeds(LETTERS, cost * 29 / 20) && exceeds(MOST_LETTERS, cost * 12 / 10)
    }

    /// The same presentation with nothing folded, and so without meta-tools.
    fn unfolded(mut self) -> Self {
        for form in self.closed.iter_mut().flatten() {
            *form = FoldedForm::full();
        }
        self.deferred.clear();
        self.meta_tools.clear();
        self
    }

    /// The same presentation with the search that all arms over the catalog share.
    pub(crate) fn searched_by(self, search: Arc<ToolSearch>) -> Self {
        Self { search, ..self }
    }

    /// The search over the catalog's tools.
    pub(super) fn search(&self) -> &ToolSearch {
        &self.search
    }

    /// The arm.
    #[must_use]
    pub(crate) fn arm(&self) -> Arm {
        self.arm
    }

    /// The meta-tools as declared under other names: `expand_tools` first, if present.
    #[must_use]
    pub(crate) fn meta_tools_as(&self, catalog: &Catalog, naming: &dyn Naming) -> Vec<Tool> {
        let mut meta = Vec::from_iter(expand_tools(catalog, &self.deferred, self.arm, naming));
        if !meta.is_empty() && self.arm.delivery() == Delivery::Bridge {
            let tools = self.deferred.iter().flat_map(|own| own.tools.iter().copied());
            for bridge in bridges(catalog, tools, naming) {
                meta.extend(bridge.declaration(naming));
            }
        }
        meta
    }

    /// What is sent once `expanded` is open. A pure function.
    #[must_use]
    pub fn plan(&self, catalog: &Catalog, assignment: &Assignment, expanded: &Expanded) -> Plan {
        let in_place = self.arm.delivery() == Delivery::InPlace;
        let mut tools = Vec::new();
        for (index, ((tool, assigned), form)) in
            catalog.iter().zip(assignment.tools.iter()).zip(&self.closed).enumerate()
        {
            let Some(form) = form else { continue };
            let open = in_place && expanded.opens_tool(tool.name().as_str(), assigned.category.as_str());
            let detail = if open { Detail::Full } else { form.detail };
            tools.push(Planned { index, detail, deferred: form.deferred && !open });
        }
        Plan { tools }
    }

    /// Whether expanding a tool reveals more, while nothing is open.
    pub(super) fn is_folded(&self, index: usize) -> bool {
        self.closed.get(index).and_then(Option::as_ref).is_some_and(|form| form.deferred)
    }

    /// How a tool is sent while nothing is open; `None` if it is hidden.
    #[must_use]
    pub fn plan_of(&self, index: usize) -> Option<Planned> {
        let form = self.closed.get(index)?.as_ref()?;
        Some(Planned { index, detail: form.detail, deferred: form.deferred })
    }

    /// The parameters of a tool that its closed form does not name: all that its schema lists, or
    /// the optional ones, in the order of the schema. Empty for a tool sent full, as a signature or
    /// as an outline. For a tool outside the array, all.
    #[must_use]
    pub fn hidden_parameters<'t>(&self, index: usize, tool: &'t Tool) -> Vec<&'t str> {
        let native = self.arm.delivery() == Delivery::Native;
        match self.closed.get(index) {
            Some(Some(form)) if !form.is_absent(native) => hidden(tool, form.detail),
            _ => hidden(tool, Detail::Index),
        }
    }

    /// The tools of a plan's array as sent, in catalog order, meta-tools last.
    pub fn array<'p>(&'p self, catalog: &'p Catalog, plan: &'p Plan) -> impl Iterator<Item = Folded<'p>> {
        let own = plan.tools.iter().filter(|planned| planned.detail.is_in_array()).filter_map(move |planned| {
            let form = self.closed.get(planned.index)?.as_ref()?;
            Some(form.planned(catalog.at(planned.index)?, *planned))
        });
        own.chain(self.meta_tools.iter().map(Folded::full))
    }
}

/// The form of a tool while it is closed; `None` if it is hidden.
fn closed_form(tool: &Tool, assigned: &Assigned, arm: Arm) -> Option<FoldedForm> {
    let wanted = match assigned.tier {
        Tier::Core if assigned.verbatim => Detail::Full,
        Tier::Core => arm.core(),
        Tier::Extended => arm.extended(),
        Tier::Hidden => return None,
    };
    let native = arm.delivery() == Delivery::Native && assigned.tier == Tier::Extended;
    Some(match wanted {
        Detail::Index | Detail::Search => FoldedForm::absent(wanted),
        _ => Folded::new(tool, wanted, assigned.summary.as_deref()).keep(native),
    })
}

/// One tool of a [`Plan`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Planned {
    /// The tool's index in the catalog.
    pub index: usize,
    /// How the tool is sent now; may be a detail that [is not in the array](Detail::is_in_array).
    pub detail: Detail,
    /// Whether the model has not yet received the full schema. Under [`Delivery::Native`] such a
    /// tool is sent full, and the provider keeps it out of the prompt.
    pub deferred: bool,
}

/// What is sent now: each visible tool with its detail, in catalog order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Plan {
    /// Every visible tool, including those outside the array.
    pub tools: Vec<Planned>,
}

impl Plan {}

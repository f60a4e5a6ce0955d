//! Layer 2, skills: knowledge for the model.
//!
//! A skill is a folder with a `SKILL.md` (YAML front matter, Markdown body) and optional further
//! files. It never decides which tools exist, are shown or may run. The model first sees an index
//! of names and descriptions, reads a body by activating the skill, and reads other files on
//! demand.
//!
//! Invariants. The layer depends only on `name` and `diagnostic`, never on catalog, profile, policy
//! or engine. It has no clock, reads no environment, runs nothing and expands no alias. It reads
//! files only through [`SkillFs`]; [`DiskFs`] is the only type here that accesses the disk. Nothing
//! is dropped without a diagnostic, and a denied skill is never shown. The tokens billed for the
//! skill index have a bound that is independent of the number of skills.
//!
//! ```
//! use toolfold::skill::{
//!     Caller, Discovery, MemoryFs, Permissions, Root, Scope, SkillLibrary, SkillView,
//! };
//!
//! let mut fs = MemoryFs::default();
//! let text = "---\nname: pdf\ndescription: Read PDFs. Use when a PDF is named.\n---\nSteps.";
//! fs.put("/skills/pdf/SKILL.md", text);
//! let mut root = Root::new("/skills", Scope::User);
//! root.trusted = true;
//! let discovery = Discovery::new(vec![root]);
//! let library = SkillLibrary::discover(&fs, discovery, &mut Default::default()).value;
//! let view = SkillView::new(&library, &Permissions::default(), Caller::Model);
//! assert_eq!(view.names().collect::<Vec<_>>(), ["pdf"]);
//! ```
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::string_slice)]

mod activate;
mod budget;
mod cache;
mod command;
mod disk;
mod document;
mod exposure;
mod fields;
mod folder;
mod fs;
mod held;
mod instructions;
mod keys;
mod legacy;
mod library;
mod lint;
mod listing;
mod permission;
mod plugin;
mod reference;
mod render;
mod rescue;
pub mod resource;
mod roots;
mod search;
mod split;
pub mod strict;
mod tool_list;
mod verbatim;
mod view;
mod walk;
#[cfg(feature = "watch")]
mod watch;
mod yaml;

pub use activate::{
    ActivateError, ActivateRequest, Activation, ActiveSet, ActiveSkill, Answer, CategoryHint, SkillMessage, activate,
    direct,
};
pub use budget::{Budget, most_tokens};
pub use cache::DiscoveryCache;
pub use command::read_command;
pub use disk::DiskFs;
pub use document::{Content, ContentHash, Document, MAX_FILE, slug};
pub use exposure::{
    FittedTool, SKILL_PREFIX, SkillTool, activate_tool, catalog_xml, fit_tool, fit_used, skill_tool, skill_tools, weigh,
};
pub use fields::{Context, Fields, Mode};
pub use folder::{Folder, prompt_entry, read_folder};
pub use fs::{FsEntry, FsError, Kind, Look, MemoryFs, SkillFs, Stamp};
pub use instructions::{Instructions, instructions};
pub use legacy::{read_cloud, to_standard};
pub use library::{Discovery, Finding, Origin, Precedence, Skill, SkillLibrary, is_unread};
pub use lint::{Vocabulary, lint};
pub use listing::{CatalogText, catalog_text};
pub use permission::{Permission, PermissionRule, Permissions};
pub use render::Facts;
pub use roots::{Root, Scope, Style, Surroundings, default_roots};
pub use search::Hit;
pub use verbatim::front_matter;
pub use view::{Caller, SkillView};
pub use walk::Limits;
#[cfg(feature = "watch")]
pub use watch::SkillWatcher;

use toolfold_diagnostic::{diagnostic, name};

//! Layer 2: skills.
mod disk;
mod document;
mod fields;
mod fs;
mod keys;
mod legacy;
mod library;
mod reference;
mod rescue;
mod roots;
mod split;
pub mod strict;
mod tool_list;
mod walk;
mod yaml;

pub use disk::DiskFs;
pub use document::{Content, ContentHash, Document, MAX_FILE, MAX_FRONT_MATTER, slug};
pub use fields::{Context, Fields, Mode};
pub use fs::{FsEntry, FsError, Kind, Look, MemoryFs, SkillFs, Stamp};
pub use legacy::{read_cloud, to_standard};
pub use library::{Discovery, DiscoveryCache, Finding, Origin, Precedence, Skill, SkillLibrary};
pub use roots::{Root, Scope, Style, Surroundings, default_roots, levels};
pub use walk::Limits;

//! Layer 2: skills.
mod activate;
mod disk;
mod document;
mod exposure;
mod fields;
mod folder;
mod fs;
mod instructions;
mod keys;
mod legacy;
mod library;
mod lint;
mod permission;
mod reference;
mod render;
mod rescue;
pub mod resource;
mod roots;
mod search;
mod split;
pub mod strict;
mod tool_list;
mod view;
mod walk;
mod yaml;

pub use activate::{
    ActivateError, ActivateRequest, Activation, ActiveSet, ActiveSkill, Answer, CategoryHint, SkillMessage, activate,
    direct,
};
pub use disk::DiskFs;
pub use document::{Content, ContentHash, Document, MAX_FILE, MAX_FRONT_MATTER, slug};
pub use exposure::{
    Budget, CatalogText, SEARCH_FROM, SkillTool, activate_tool, catalog_text, catalog_xml, estimate_tokens, skill_tools,
};
pub use fields::{Context, Fields, Mode};
pub use folder::{Folder, prompt_entry, read_folder};
pub use fs::{FsEntry, FsError, Kind, Look, MemoryFs, SkillFs, Stamp};
pub use instructions::{Instructions, MAX_INSTRUCTIONS, instructions};
pub use legacy::{read_cloud, to_standard};
pub use library::{Discovery, DiscoveryCache, Finding, Origin, Precedence, Skill, SkillLibrary};
pub use lint::{MAX_BODY_LINES, MAX_BODY_TOKENS, Vocabulary, lint};
pub use permission::{Permission, PermissionRule, Permissions};
pub use render::Facts;
pub use roots::{Root, Scope, Style, Surroundings, default_roots, levels};
pub use search::{Hit, SkillIndex};
pub use view::{Caller, SkillView};
pub use walk::Limits;

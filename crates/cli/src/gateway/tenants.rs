//! Tenants of one gateway: each has a token and its own store.

use std::path::PathBuf;

use super::super::ledger::default_store;
use super::super::output::Failure;
use super::super::postgres;

/// Maximum length of a tenant's name in characters: it is part of a file's name.
const MAX_NAME: usize = 32;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Tenant {
    pub(super) name: String,
    pub(super) token_env: String,
}

/// Parses `TENANT=NAME`.
pub(super) fn tenants(given: &[String]) -> Result<Vec<Tenant>, Failure> {
    let mut all: Vec<Tenant> = Vec::new();
    for text in given {
        let (name, token_env) = text
            .split_once('=')
            .filter(|(_, variable)| !variable.is_empty())
            .ok_or_else(|| bad_tenant(format!("`{text}` does not name a variable")))?;
        let is_valid = name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_'));
        if name.is_empty() || name.len() > MAX_NAME || !is_valid {
            let may = "1 to 32 lower-case letters, digits, `-` and `_`";
            return Err(bad_tenant(format!("`{name}` is not a valid name for a tenant: use {may}")));
        }
        if all.iter().any(|own| own.name == name) {
            return Err(bad_tenant(format!("the tenant `{name}` is given twice")));
        }
        if let Some(other) = all.iter().find(|own| own.token_env == token_env) {
            return Err(bad_tenant(format!("`{}` and `{name}` have the same token", other.name)));
        }
        all.push(Tenant { name: name.to_owned(), token_env: token_env.to_owned() });
    }
    Ok(all)
}

fn bad_tenant(why: String) -> Failure {
    Failure::usage(why).help("write --tenant TENANT=NAME, such as --tenant ada=ADA_TOKEN")
}

impl Tenant {
    /// The store of its approvals and audit trail: a file next to the gateway's, or its rows in the
    /// same database.
    pub(super) fn store(&self, whole: Option<&str>) -> Result<String, Failure> {
        if let Some(address) = whole.filter(|text| postgres::is_address(text)) {
            return Ok(postgres::of_tenant(address, &self.name));
        }
        let Some(whole) = whole.map(PathBuf::from).or_else(default_store) else {
            return Err(Failure::usage("no folder for the tenants' stores is known").help("give --store FILE"));
        };
        let stem = whole.file_stem().unwrap_or_default().to_string_lossy();
        let end = whole.extension().map(|end| format!(".{}", end.to_string_lossy())).unwrap_or_default();
        Ok(whole.with_file_name(format!("{stem}-{}{end}", self.name)).to_string_lossy().into_owned())
    }
}

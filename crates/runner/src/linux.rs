//! The sandbox of Linux.

mod child;
mod filter;
mod limits;
mod processes;
mod rules;
mod supervisor;

pub(crate) use child::become_script;
pub(crate) use rules::level;
pub(crate) use supervisor::supervise;

//! `suggest`: a profile from how tools are used.

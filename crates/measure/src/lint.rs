//! `lint`: what is wrong with a tool list, and what each finding costs.

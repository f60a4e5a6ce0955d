//! The action and the pre-commit hooks call what there is.

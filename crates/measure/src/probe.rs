//! `probe`: what a model takes, by requests with a control that must fail.

//! `ab`: recorded tasks through arms, judged on every argument of the true calls.

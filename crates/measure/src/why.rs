//! `why`: what the parts of one tool cost, and what each detail drops.

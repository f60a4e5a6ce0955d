//! `sim`: what a session costs under each arm, prompt caching counted.

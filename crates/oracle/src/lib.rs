//! Nothing: the package has a test that compares rules over earlier calls with another engine.

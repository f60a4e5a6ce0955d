//! Nothing: the package has a test that compares the shell reader with another one.

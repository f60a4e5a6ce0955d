//! Nothing: the package has tests that compare the policy with other engines.

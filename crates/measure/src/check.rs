//! `lock`, `diff`, `check`: what tools cost, held against a committed record and a budget.

//! `report --html`: one self-contained page.

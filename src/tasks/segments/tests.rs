//! Against the published case study, by hand, and on what the reader refuses.

mod case_study;
mod hand;
mod priorities;
mod refused;

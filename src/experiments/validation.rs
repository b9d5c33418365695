//! The merged SM put to the test: random scenarios of several families, analysed and simulated.
//!
//! Every sample depends on the seed, its family and its number only, so the result is the same for any number of
//! threads, and each sample can be made again alone (`Sample::draw`).

mod campaign;
mod family;
mod judge;
mod sample;
mod shrink;
mod tally;

pub(crate) use campaign::FamilyReport;
pub use campaign::{Campaign, CampaignReport};
pub use family::Family;
pub(crate) use judge::Agreement;
pub(crate) use sample::Sample;
pub(crate) use tally::{FamilyTally, Sampler};

#[cfg(test)]
mod tests;

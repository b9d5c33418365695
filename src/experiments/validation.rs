//! The merged SM put to the test: random scenarios of several families, analysed and simulated.
//!
//! Every sample depends on the seed, its family and its number only, so the result is the same for any number of
//! threads, and each sample can be made again alone ([`Sample::draw`]).

mod campaign;
mod family;
mod judge;
mod sample;
mod shrink;
mod tally;

pub use campaign::{Campaign, CampaignReport, ErrorBin, FamilyReport};
pub use family::Family;
pub use judge::{Agreement, Judge};
pub use sample::{Sample, SampleKernel, SampleStream};
pub use tally::{FamilyTally, Sampler};

//! Applications together with the GPU they run on.

use super::injection::{Injection, Injections};
use super::model::Application;
use super::power::PowerModel;
use super::profile::ExecutionProfile;
use crate::device::Device;

/// Applications, the GPU they run on, and when they are injected.
#[derive(Debug, Clone, PartialEq)]
pub struct ApplicationSet {
    /// Name in reports.
    pub name: String,
    /// Whether the numbers were made up rather than measured.
    pub synthetic: bool,
    /// The GPU.
    pub device: Device,
    /// What its SMs are taken to consume.
    pub(crate) power: PowerModel,
    /// The applications.
    pub applications: Vec<Application>,
    /// Their profiles on `device`, in the same order.
    pub profiles: Vec<ExecutionProfile>,
    /// What is injected, in order of arrival.
    pub injections: Vec<Injection>,
    /// How to inject where the file says so and states no arrivals.
    pub generator: Option<Injections>,
    /// What a user should know about the input.
    pub notes: Vec<String>,
}

impl ApplicationSet {
    /// The application of an injection, and its profile.
    pub fn of(&self, injection: &Injection) -> Option<(&Application, &ExecutionProfile)> {
        let index = injection.application as usize;
        Some((self.applications.get(index)?, self.profiles.get(index)?))
    }
}

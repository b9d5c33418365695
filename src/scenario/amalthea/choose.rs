//! Which runnables of a model are launched.

use std::collections::BTreeSet;

use super::cost::Costs;
use super::error::Problem;
use super::model::AmaltheaModel;
use super::options::AmaltheaOptions;
use crate::spelling::option;
use crate::words::did_you_mean;

impl AmaltheaModel<'_> {
    /// The runnables to launch, by index.
    pub(super) fn chosen(&self, chosen: &AmaltheaOptions, costs: &Costs<'_, '_>) -> Result<Vec<usize>, Problem> {
        let unknown = |name: &str| {
            let near = did_you_mean(name, self.runnables.iter().map(|runnable| runnable.name.as_str()));
            Problem::general(format!("no runnable of this model is called {name:?}{near}")).with_help(self.names_help())
        };
        let mut indices = Vec::new();
        if chosen.runnables.is_empty() {
            let with_cores = self.uses_cores(chosen);
            let on_gpu = self.tasks.iter().filter(|task| with_cores && self.is_on_gpu(task));
            let on_gpu: BTreeSet<usize> = on_gpu.flat_map(|task| task.calls.iter().copied()).collect();
            for (index, runnable) in self.runnables.iter().enumerate().filter(|(_, runnable)| runnable.copy.is_none()) {
                let has_size = runnable.grid_size.is_some() || chosen.grid_sizes.contains_key(&runnable.name);
                if has_size || on_gpu.contains(&index) {
                    indices.extend(costs.find(&runnable.name)?);
                }
            }
            if indices.is_empty() && !with_cores {
                let problem = Problem::general("no runnable of this model has a custom property GridSize");
                let (runnables, size) = (option("runnables").with("A,B"), option("grid_size").of("NAME", "N"));
                let help = format!("choose runnables with {runnables} and give {size} for each; {}", self.names_help());
                return Err(problem.with_help(help));
            }
        }
        for name in &chosen.runnables {
            let index = costs.find(name)?.ok_or_else(|| unknown(name))?;
            if indices.contains(&index) {
                return Err(Problem::general(format!("runnable {name:?} is chosen twice")));
            }
            if self.runnables.get(index).is_some_and(|runnable| runnable.copy.is_some()) {
                return Err(Problem::general(format!("runnable {name:?} is a copy, not a kernel"))
                    .with_help("copies are submitted with the runnable around which they stand"));
            }
            indices.push(index);
        }
        let launched: BTreeSet<&str> = indices
            .iter()
            .filter_map(|&index| self.runnables.get(index))
            .map(|runnable| runnable.name.as_str())
            .collect();
        let sized = chosen.grid_sizes.keys().map(|name| ("grid", name));
        let sized = sized.chain(chosen.block_sizes.keys().map(|name| ("block", name)));
        for (what, name) in sized {
            if costs.find(name)?.is_none() {
                return Err(unknown(name));
            }
            if !launched.contains(name.as_str()) {
                return Err(Problem::general(format!("a {what} size is given for {name:?}, which is not launched"))
                    .with_help(format!("{} names all runnables to launch", option("runnables"))));
            }
        }
        Ok(indices)
    }

    fn names_help(&self) -> String {
        const SHOWN: usize = 12;
        let mut names: Vec<&str> = self.runnables.iter().take(SHOWN).map(|runnable| runnable.name.as_str()).collect();
        if names.is_empty() {
            return "the model has no runnables".to_owned();
        }
        if self.runnables.len() > SHOWN {
            names.push("…");
        }
        format!("there are: {}", names.join(", "))
    }
}

//! Which launched runnables share a stream: those that one task calls, one after the other.

use super::activate::{Activations, Sequence};
use super::model::AmaltheaModel;

impl AmaltheaModel<'_> {
    /// The launched runnables, those together that one task calls; in the order of their first ones.
    pub(super) fn sequences(&self, launched: &[usize], activations: &Activations<'_, '_>) -> Vec<Sequence> {
        let mut sequences: Vec<Sequence> = Vec::new();
        for &index in launched {
            let task = activations.only_task(index);
            match sequences.iter_mut().find(|known| task.is_some() && known.task == task) {
                Some(known) => known.runnables.push(index),
                None => sequences.push(Sequence { label: String::new(), runnables: vec![index], task }),
            }
        }
        let name = |index: usize| self.runnables.get(index).map_or("", |runnable| runnable.name.as_str());
        let alone: Vec<&str> = sequences
            .iter()
            .filter(|one| !one.is_of_several())
            .filter_map(|one| one.runnables.first())
            .map(|&one| name(one))
            .collect();
        for sequence in &mut sequences {
            let task = sequence.task.filter(|_| sequence.runnables.len() > 1);
            sequence.label = match task.and_then(|number| Some((number, self.tasks.get(number)?))) {
                Some((number, task)) => {
                    let order = activations.called_by(number);
                    crate::sorted::sort_by_key(&mut sequence.runnables, |index| {
                        order.iter().position(|called| called == index)
                    });
                    if alone.contains(&task.name.as_str()) { format!("task {}", task.name) } else { task.name.clone() }
                }
                None => sequence.runnables.first().map_or("", |&index| name(index)).to_owned(),
            };
        }
        sequences
    }
}

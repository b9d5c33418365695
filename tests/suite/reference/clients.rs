//! MPS: on which SMs a client may have blocks.

use super::gpu::{Place, ReferenceGpu};
use super::resources::{Free, Need};

impl ReferenceGpu<'_> {
    /// Of the SMs that a kernel may use by masks, those to which MPS limits its process now.
    pub(super) fn allowed(&self, operation: usize) -> Vec<bool> {
        let process = self.process_of(operation);
        let used = self.used_by_process(process);
        let may_use_another = used.iter().filter(|&&used| used).count() < self.contexts.sms_of_process[process];
        let others = self.kept_by_others(process);
        (self.enabled(operation).into_iter().zip(used).zip(others))
            .map(|((enabled, used), of_another)| enabled && !of_another && (used || may_use_another))
            .collect()
    }

    /// MPS: which SMs a process may not use as others have blocks there. Where all may use no more SMs together than
    /// there are, each has its own.
    fn kept_by_others(&self, process: usize) -> Vec<bool> {
        let sms = self.scenario.device().sms as usize;
        let all = 0..self.contexts.sms_of_process.len();
        if self.contexts.sms_of_process.iter().sum::<usize>() > sms {
            return vec![false; sms];
        }
        let used: Vec<Vec<bool>> =
            all.filter(|&other| other != process).map(|other| self.used_by_process(other)).collect();
        (0..sms).map(|sm| used.iter().any(|used| used[sm])).collect()
    }

    /// How many blocks of a kernel each SM may take now: of SMs that its process does not use only as many as it may
    /// use besides, lone TPCs first and then by number.
    pub(super) fn may_take(&self, operation: usize, need: &Need, free: &[Free]) -> Vec<u64> {
        let device = self.scenario.device();
        let process = self.process_of(operation);
        let (used, enabled) = (self.used_by_process(process), self.enabled(operation));
        let others_have = self.kept_by_others(process);
        let mut others =
            self.contexts.sms_of_process[process].saturating_sub(used.iter().filter(|&&used| used).count());
        let may_use = |sm: usize| enabled[sm] && !others_have[sm];
        let mut rooms: Vec<u64> = (0..free.len()).map(|sm| if may_use(sm) { free[sm].room(need) } else { 0 }).collect();
        let lone = device.lone_sms();
        let by_number = lone.clone().chain(0..lone.start);
        for sm in by_number.map(|sm| sm as usize) {
            if rooms[sm] > 0 && !used[sm] {
                if others == 0 {
                    rooms[sm] = 0;
                } else {
                    others -= 1;
                }
            }
        }
        rooms
    }

    /// On which SMs a process has blocks, or what they took is not free yet.
    fn used_by_process(&self, process: usize) -> Vec<bool> {
        let mut used = vec![false; self.scenario.device().sms as usize];
        for running in &self.running {
            if let Place::Sm(sm) = running.place
                && self.process_of(running.operation) == process
            {
                used[sm] = true;
            }
        }
        for &(until, operation, sm) in &self.freeing {
            used[sm] |= until > self.now && self.process_of(operation) == process;
        }
        used
    }
}

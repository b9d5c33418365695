//! What happens when blocks or a copy complete.

use super::calendar::Event;
use super::engine::Gpu;
use super::simulation::GpuEvent;
use crate::workload::{OperationId, OperationKind};

impl Gpu {
    /// Applies one completion: its resources become free, and when it was the operation's last, the operation leaves
    /// its stream queue (G4, C4) and whatever that sets free goes on.
    pub(super) fn complete(&mut self, event: Event) {
        match event {
            Event::Wave(wave) => self.complete_wave(wave),
            Event::Copy(operation) => {
                if let OperationKind::Copy(copy) = self.trace.operations[operation as usize].kind {
                    let engine = self.copy_engine_of(copy);
                    self.copy_engines[engine].complete();
                }
                self.finish(operation);
            }
            Event::Wake(_) => {}
        }
    }

    fn complete_wave(&mut self, index: u32) {
        let wave = self.trace.waves[index as usize];
        let demand = self.demand_of(wave.operation);
        let parts = wave.parts.0 as usize..(wave.parts.0 + wave.parts.1) as usize;
        for part in &self.trace.parts[parts] {
            self.sms[usize::from(part.sm)].give_back(&demand, u32::from(part.blocks));
            if self.options.report_blocks && part.blocks > 0 {
                let operation = OperationId(wave.operation);
                self.events.push(GpuEvent::BlocksCompleted { operation, sm: part.sm, blocks: part.blocks });
            }
        }
        let record = &mut self.progress[wave.operation as usize];
        record.running -= wave.blocks;
        if record.running == 0 && record.unassigned == 0 {
            self.finish(wave.operation);
        }
    }

    fn finish(&mut self, operation: u32) {
        let stream = self.trace.operations[operation as usize].stream;
        let mut affected = std::mem::take(&mut self.scratch_streams);
        self.leave_stream(stream, operation, &mut affected);
        self.promote(affected);
    }
}

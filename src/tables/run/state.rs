//! The state at one instant in words.

use std::fmt::Write;

use crate::run::{State, Suspended, SuspendedCopy, TurnState, Waiting};
use crate::workload::stream_in_words;

fn turn_in_words(turn: &TurnState) -> String {
    let (Some(process), Some(from), Some(to)) = (&turn.process, turn.from_ns, turn.to_ns) else {
        return "turn: nobody's".to_owned();
    };
    let what = if turn.switching { "switch to" } else { "turn:" };
    format!("{what} {process}, from {from} to {to}")
}

impl State {
    /// The state at one instant as text.
    pub fn text(&self) -> String {
        let mut text = format!("state at {}\n", self.at_ns);
        if let Some(turn) = &self.turn {
            let _ = writeln!(text, "  {}", turn_in_words(turn));
        }
        // Why the heads of queues wait is asked for most; what stands behind them in its stream is told after that.
        let (behind, heads): (Vec<&Waiting>, Vec<&Waiting>) =
            self.waiting.iter().partition(|waiting| waiting.rule.is_behind_in_stream());
        for waiting in heads.into_iter().chain(behind) {
            let _ = writeln!(text, "  {} waits ({}): {}", waiting.operation, waiting.rule, waiting.why);
        }
        let list = |names: &[String]| if names.is_empty() { "empty".to_owned() } else { names.join(", ") };
        for queue in &self.stream_queues {
            let _ = writeln!(text, "  {}: {}", stream_in_words(&queue.name), list(&queue.operations));
        }
        for queue in &self.ee_queues {
            let of = queue.context.as_ref().map_or_else(String::new, |context| format!(" of {context}"));
            let _ = writeln!(text, "  EE queue{of}, priority {}: {}", queue.priority, list(&queue.operations));
        }
        for (engine, (queue, served)) in self.ce_queues.iter().zip(&self.copy_engines).enumerate() {
            let _ = writeln!(text, "  CE queue {engine}: {}", list(queue));
            let served = if served.names().is_empty() { "idle".to_owned() } else { served.names().join(", ") };
            let _ = writeln!(text, "  copy engine {engine}: {served}");
        }
        for sm in &self.sms {
            let residents: Vec<String> =
                sm.resident.iter().map(|resident| format!("{} x {}", resident.blocks, resident.kernel)).collect();
            let _ = writeln!(
                text,
                "  SM {}: {}; free: {} threads, {} block slots, {} bytes of shared memory, {} registers",
                sm.sm,
                list(&residents),
                sm.free_threads,
                sm.free_blocks,
                sm.free_shared_memory,
                sm.free_registers
            );
        }
        for suspended in self.suspended.iter().flatten() {
            let Suspended { process, blocks } = suspended;
            let _ = writeln!(text, "  suspended, of {process}: {} x {}", blocks.blocks, blocks.kernel);
        }
        for SuspendedCopy { process, copy, .. } in self.suspended_copies.iter().flatten() {
            let _ = writeln!(text, "  suspended, of {process}: {copy}");
        }
        text
    }
}

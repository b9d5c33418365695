//! The state of contexts that take turns, for comparison.

use super::{Context, Copies, TimeSliced, Turn};
use crate::canonical::Canonical;
use crate::gpu::calendar::Calendar;
use crate::time::Instant;

impl TimeSliced {
    /// Writes the state with what is in the calendar of the GPU.
    pub(in crate::gpu::contexts) fn write_state(&self, now: Instant, calendar: &Calendar, to: &mut Canonical) {
        let Self {
            contexts,
            runlist,
            turn,
            runs_out_since,
            timers_end_first,
            loaded,
            // How many work is seen from them, and the rest is given.
            working: _,
            switch_cost: _,
            preemption: _,
            may_skip_rounds: _,
            places: _,
            copies,
        } = self;
        runlist.write_state(to);
        to.value((timers_end_first, loaded));
        to.optional(*runs_out_since, Canonical::instant);
        let current = match *turn {
            Turn::Nobody => {
                to.number(0_u64);
                None
            }
            Turn::Begins(number) => {
                to.number(1_u64);
                to.length(number);
                None
            }
            Turn::Of { context, until, contended } => {
                to.number(2_u64);
                to.length(context);
                to.instant(until);
                to.number(contended);
                Some(context)
            }
        };
        to.list(contexts.iter().enumerate(), |to, (number, context)| {
            let Context { backend, calendar, stands_since, time_slice: _, runnable, works } = context;
            to.value((runnable, works));
            // Since when it stands still makes no difference but to what it had come to by then.
            let seen_at = if current == Some(number) { now } else { *stands_since };
            backend.write_state(seen_at, calendar, to);
        });
        match copies {
            Copies::InTurn => calendar.write_state(now, to, Canonical::value),
            Copies::Traded(engines) => {
                engines.write_state(to);
                calendar.write_state(now, to, Canonical::value);
            }
            Copies::Linked(backend) => backend.write_state(now, calendar, to),
        }
    }
}

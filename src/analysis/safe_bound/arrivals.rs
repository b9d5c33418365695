//! The orders in which operations of several threads can be launched at one instant, as far as the order decides who
//! waits for whom.
//!
//! Two orders that differ only in operations that do not decide this make the same waits, so one of them is enough:
//! of each such class the first in the dictionary (the normal form of Anisimov and Knuth, "Inhomogeneous sorting",
//! International Journal of Computer and Information Sciences 8, 1979).

use super::predecessors::NullRule;
use crate::analysis::merged_backend::Analysed;
use crate::limits::{count_steps, count_turn};
use crate::workload::OperationKind;

/// Orders above which they are not told apart.
const MOST_ORDERS: usize = 64;

/// Operations of one instant that decide who waits for whom above which orders are not told apart.
const MOST_DECIDING: usize = 64;

/// Steps after which orders of an instant are given up.
const MOST_STEPS: usize = 20_000;

/// Whether it matters for who waits for whom which of two operations of different threads comes first.
fn decide(one: &Analysed, other: &Analysed, rules: &[NullRule]) -> bool {
    let by_null = rules[one.stream.index()].couples(rules[other.stream.index()]);
    let by_event = match (one.kind, other.kind) {
        (OperationKind::Record(one), OperationKind::Record(other) | OperationKind::Wait(other))
        | (OperationKind::Wait(one), OperationKind::Record(other)) => one == other,
        _ => false,
    };
    one.stream == other.stream || by_null || by_event
}

/// All orders of `operations`, which are given by launch and program order, one for each way in which they can wait for
/// one another. `None`: more than [`MOST_ORDERS`], or `most`.
pub(super) fn orders(operations: &[Analysed], rules: &[NullRule], most: usize) -> Option<Vec<Vec<usize>>> {
    let most = most.min(MOST_ORDERS);
    let mut orders: Vec<Vec<usize>> = vec![Vec::with_capacity(operations.len())];
    let mut first = 0;
    for together in operations.chunk_by(|one, other| one.launched == other.launched) {
        let of_instant = Instant::new(together, rules).orders(most)?;
        if of_instant.len() * orders.len() > most {
            return None;
        }
        if let ([order], [then]) = (&mut orders[..], &of_instant[..]) {
            order.extend(then.iter().map(|&at| first + at));
            first += together.len();
            continue;
        }
        let longer = orders.iter().flat_map(|before| {
            let then = |order: &Vec<usize>| before.iter().copied().chain(order.iter().map(|&at| first + at)).collect();
            of_instant.iter().map(then)
        });
        orders = longer.collect();
        first += together.len();
    }
    Some(orders)
}

/// What is launched at one instant.
struct Instant<'a> {
    operations: &'a [Analysed],
    rules: &'a [NullRule],
    /// By thread, in program order.
    threads: Vec<Vec<usize>>,
    /// Whether an operation decides anything together with one of another thread.
    deciding: Vec<bool>,
}

/// An order in the making.
#[derive(Clone)]
struct Prefix {
    /// By thread: how many of its operations are in it.
    taken: Vec<usize>,
    order: Vec<usize>,
    /// Those in it that decide something.
    deciding: Vec<usize>,
}

impl<'a> Instant<'a> {
    fn new(operations: &'a [Analysed], rules: &'a [NullRule]) -> Self {
        let mut threads: Vec<Vec<usize>> = Vec::new();
        for (number, operation) in operations.iter().enumerate() {
            let is_own = |own: &&mut Vec<usize>| operations[own[0]].origin.thread == operation.origin.thread;
            match threads.iter_mut().find(is_own) {
                Some(own) => own.push(number),
                None => threads.push(vec![number]),
            }
        }
        let several = threads.len() > 1;
        let decides = |one: &Analysed| {
            count_steps(operations.len());
            let other_thread = |other: &&Analysed| other.origin.thread != one.origin.thread;
            several && operations.iter().filter(other_thread).any(|other| decide(one, other, rules))
        };
        let deciding = operations.iter().map(decides).collect();
        Self { operations, rules, threads, deciding }
    }

    /// Whether two operations keep their order in all orders of a class.
    fn is_fixed(&self, one: usize, other: usize) -> bool {
        let (one, other) = (&self.operations[one], &self.operations[other]);
        one.origin.thread == other.origin.thread || decide(one, other, self.rules)
    }

    /// Whether an order with `next` behind it can be the first of its class: it cannot move before one that would come
    /// later in the dictionary.
    fn stays_first(&self, deciding: &[usize], next: usize) -> bool {
        let passed = deciding.iter().rev().take_while(|&&before| !self.is_fixed(before, next));
        passed.into_iter().all(|&before| before < next)
    }

    fn orders(&self, most: usize) -> Option<Vec<Vec<usize>>> {
        if self.deciding.iter().filter(|decides| **decides).count() > MOST_DECIDING {
            return None;
        }
        let mut found = Vec::new();
        let start = Prefix { taken: vec![0; self.threads.len()], order: Vec::new(), deciding: Vec::new() };
        let mut open = vec![start];
        let mut steps = 0;
        while let Some(mut prefix) = open.pop() {
            steps += 1;
            count_steps(prefix.order.len());
            if steps > MOST_STEPS || found.len() > most {
                return None;
            }
            // What decides nothing need not be told apart.
            for (taken, thread) in prefix.taken.iter_mut().zip(&self.threads) {
                while let Some(&next) = thread.get(*taken).filter(|next| !self.deciding[**next]) {
                    count_turn();
                    prefix.order.push(next);
                    *taken += 1;
                }
            }
            if prefix.order.len() == self.operations.len() {
                found.push(prefix.order);
                continue;
            }
            for (index, thread) in self.threads.iter().enumerate() {
                let Some(&next) = thread.get(prefix.taken[index]) else { continue };
                if self.stays_first(&prefix.deciding, next) {
                    let mut longer = prefix.clone();
                    longer.taken[index] += 1;
                    longer.order.push(next);
                    longer.deciding.push(next);
                    open.push(longer);
                }
            }
        }
        (found.len() <= most).then_some(found)
    }
}

//! Random scenarios that a few bytes choose, for fuzzing, and what must hold for each.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::agreement::agreed;
use crate::campaign::config;
use crate::generate::{Case, Limits, scenario};
use crate::generate_processes::with_processes;
use crate::own_logs::made::{OwnLogs, own_logs};

/// The value of `strategy` that this seed draws; `None` if it draws none.
fn drawn<T: std::fmt::Debug>(strategy: impl Strategy<Value = T>, seed: &[u8; 32]) -> Option<T> {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, seed);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    strategy.new_tree(&mut runner).ok().map(|tree| tree.current())
}

/// Engine, reference simulator and audit agree on a scenario; logs of a run audit clean and replay as they are.
///
/// The first byte says what kind of scenario it is, the 32 after it, zeros where there are none, draw it: every choice
/// by bytes of its own would leave strategies that reject some without an end.
pub(crate) fn holds(bytes: &[u8]) -> Result<(), TestCaseError> {
    let Some((&kind, rest)) = bytes.split_first() else { return Ok(()) };
    let mut seed = [0; 32];
    seed.iter_mut().zip(rest).for_each(|(own, &byte)| *own = byte);
    let agrees = |case: Option<Case>| case.map_or(Ok(()), |Case(scenario)| agreed(&scenario).map(drop));
    match kind % 6 {
        0 => agrees(drawn(scenario(Limits::ALL), &seed)),
        1 => agrees(drawn(scenario(Limits::MANY_BLOCKS), &seed)),
        2 => agrees(drawn(with_processes(Limits::ALL, false), &seed)),
        3 => agrees(drawn(with_processes(Limits::MANY_BLOCKS, false), &seed)),
        4 => agrees(drawn(with_processes(Limits::ALL, true), &seed)),
        _ => own_logs_hold(drawn(own_logs(), &seed).flatten()),
    }
}

fn own_logs_hold(own: Option<OwnLogs>) -> Result<(), TestCaseError> {
    let Some(own) = own else { return Ok(()) };
    let findings = own.audit(&gpusched::audit::Tolerances::EXACT).findings;
    prop_assert!(findings.is_empty(), "{findings:#?}");
    let replay = own.replay();
    prop_assert!(replay.kernels.iter().all(|kernel| kernel.difference_ns == Some(0)), "{:#?}", replay.kernels);
    Ok(())
}

proptest! {
    #![proptest_config(config(120))]

    #[test]
    fn whatever_bytes_draw_holds(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
        holds(&bytes)?;
    }
}

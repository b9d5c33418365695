//! The turns of contexts.

use crate::formats::Column;
use crate::scenario::Scenario;
use crate::trace::ContextTurn;

pub(crate) struct TurnRow<'a> {
    process: &'a str,
    turn: ContextTurn,
}

impl<'a> TurnRow<'a> {
    pub(super) fn new(scenario: &'a Scenario, turn: ContextTurn) -> Self {
        Self { process: scenario.catalogue.process_name(turn.process), turn }
    }
}

pub(crate) fn turn_columns<'a>() -> [Column<TurnRow<'a>>; 5] {
    [
        Column::new("process", "process", |row: &TurnRow<'_>| row.process.into()).left(),
        Column::new("switch_from_ns", "switch from", |row| row.turn.switch_from.into()),
        Column::new("start_ns", "started", |row| row.turn.start.into()),
        Column::new("end_ns", "end", |row| row.turn.end.into()),
        Column::new("ended_by", "ended by", |row: &TurnRow<'_>| row.turn.ended_by.name().into()).left(),
    ]
}

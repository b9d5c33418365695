//! The turns of contexts.

use crate::formats::Column;
use crate::run::Summary;
use crate::trace::ContextTurn;

pub(crate) struct TurnRow<'a> {
    summary: Summary<'a>,
    turn: ContextTurn,
}

impl<'a> TurnRow<'a> {
    /// All of them, in order of time.
    pub(crate) fn of(summary: Summary<'a>) -> impl Iterator<Item = Self> {
        summary.trace.turns().iter().map(move |&turn| Self { summary, turn })
    }
}

pub(crate) fn turn_columns<'a>() -> [Column<TurnRow<'a>>; 5] {
    [
        Column::new("process", "process", |row: &TurnRow<'_>| row.summary.trace.process_name(row.turn.process).into())
            .left(),
        Column::new("switch_from_ns", "switch from", |row| row.turn.switch_from.into()),
        Column::new("start_ns", "started", |row| row.turn.start.into()),
        Column::new("end_ns", "end", |row| row.turn.end.into()),
        Column::new("ended_by", "ended by", |row: &TurnRow<'_>| row.turn.ended_by.name().into()).left(),
    ]
}

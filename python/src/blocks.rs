//! The blocks of a run as columns, which `NumPy` takes over without copying.

use std::collections::HashMap;

use gpusched::run::Run;
use gpusched::workload::{OperationId, OperationKind};
use numpy::{Element, IntoPyArray, PyArray1, PyArrayMethods};
use pyo3::prelude::*;

use crate::errors::Failure;

/// The end of a block that had not completed when the run ended.
const NEVER_NS: i64 = -1;

/// One entry for each block, kernel by kernel in launch order, then in the order of assignment.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    /// Number of the launch, the `id` of kernels.
    id: Vec<u32>,
    /// Where its name is among `names`.
    kernel: Vec<u32>,
    /// Number of the block in its grid.
    block: Vec<u32>,
    sm: Vec<u16>,
    start_ns: Vec<i64>,
    end_ns: Vec<i64>,
    /// What kernels are called, each once.
    names: Vec<String>,
}

/// What Python gets: id, kernel, block, sm, `start_ns`, `end_ns`, and the names that kernel counts.
pub(crate) type Arrays<'py> = (
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u16>>,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<i64>>,
    Vec<String>,
);

impl Columns {
    pub(crate) fn of(run: &Run) -> Result<Self, Failure> {
        let trace = &run.trace;
        let kernels = || {
            let operations = (0..).map(OperationId).zip(trace.operations());
            operations.filter(|(_, record)| matches!(record.kind, OperationKind::Kernel(_))).map(|(id, _)| id)
        };
        let count = kernels().filter_map(|id| trace.kernel_of(id)).map(|kernel| kernel.blocks as usize).sum();
        let mut columns = Self {
            id: Vec::with_capacity(count),
            kernel: Vec::with_capacity(count),
            block: Vec::with_capacity(count),
            sm: Vec::with_capacity(count),
            start_ns: Vec::with_capacity(count),
            end_ns: Vec::with_capacity(count),
            names: Vec::new(),
        };
        // Instants ascend to the end of the run, so that if this fits all do.
        i64::try_from(trace.end().as_ns()).map_err(|_| {
            Failure::Simulation("the run lasts longer than 2^63 ns, which NumPy's int64 does not hold".to_owned())
        })?;
        let mut known = HashMap::new();
        for id in kernels() {
            let name = trace.kernel_of(id).map_or("", |kernel| &*kernel.title);
            let names = &mut columns.names;
            let kernel = *known.entry(name).or_insert_with(|| {
                names.push(name.to_owned());
                names.len() - 1
            });
            // There are no more names than launches, whose numbers have 32 bits.
            let kernel = u32::try_from(kernel).unwrap_or(u32::MAX);
            for block in trace.blocks(id) {
                columns.id.push(id.0);
                columns.kernel.push(kernel);
                columns.block.push(block.index);
                columns.sm.push(block.sm);
                columns.start_ns.push(block.start.as_ns().cast_signed());
                columns.end_ns.push(trace.completed(&block).map_or(NEVER_NS, |end| end.as_ns().cast_signed()));
            }
        }
        Ok(columns)
    }

    /// Hands the memory of each column over. What was simulated stays as it is: nobody may write there.
    pub(crate) fn into_arrays(self, py: Python<'_>) -> Arrays<'_> {
        (
            read_only(py, self.id),
            read_only(py, self.kernel),
            read_only(py, self.block),
            read_only(py, self.sm),
            read_only(py, self.start_ns),
            read_only(py, self.end_ns),
            self.names,
        )
    }
}

fn read_only<T: Element>(py: Python<'_>, column: Vec<T>) -> Bound<'_, PyArray1<T>> {
    let array = column.into_pyarray(py);
    // Nobody else has it yet, so it can be borrowed.
    if let Ok(own) = array.try_readwrite() {
        drop(own.make_nonwriteable());
    }
    array
}

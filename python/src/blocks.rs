//! The blocks of a run as columns, which `NumPy` takes over without copying.

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
    kernel: Vec<u32>,
    /// Number of the block in its grid.
    block: Vec<u32>,
    sm: Vec<u16>,
    start_ns: Vec<i64>,
    end_ns: Vec<i64>,
}

/// What Python gets: kernel, block, sm, `start_ns`, `end_ns`.
pub(crate) type Arrays<'py> = (
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u16>>,
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<i64>>,
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
            kernel: Vec::with_capacity(count),
            block: Vec::with_capacity(count),
            sm: Vec::with_capacity(count),
            start_ns: Vec::with_capacity(count),
            end_ns: Vec::with_capacity(count),
        };
        // Instants ascend to the end of the run, so that if this fits all do.
        i64::try_from(trace.end().as_ns()).map_err(|_| {
            Failure::Simulation("the run lasts longer than 2^63 ns, which NumPy's int64 does not hold".to_owned())
        })?;
        for id in kernels() {
            for block in trace.blocks(id) {
                columns.kernel.push(id.0);
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
            read_only(py, self.kernel),
            read_only(py, self.block),
            read_only(py, self.sm),
            read_only(py, self.start_ns),
            read_only(py, self.end_ns),
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

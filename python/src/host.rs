//! Schedulers written in Python, in front of the simulated GPU.
//!
//! The engine calls [`Host`] with a GPU that it owns, which Python cannot hold on to. So Python gets a [`Gpu`] of its
//! own that checks and numbers what is submitted as the engine does, and notes it; when a call returns, the engine is
//! told all of it in the same order. Nothing can happen in between, as time stands still during a call.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::sync::Arc;
use std::time::Instant as WallTime;

use gpusched::device::{BlockShape, CopyDirection, Device, SmMask};
use gpusched::gpu::{GpuEvent, GpuInterface, GpuOptions, Host, RunError, Simulated, SubmitError};
use gpusched::limits::Allowance;
use gpusched::run::Run as LibraryRun;
use gpusched::scenario::{ReadOptions, ScenarioBuilder};
use gpusched::time::Instant;
use gpusched::words::with_causes;
use gpusched::workload::{
    BlockClock, BlockTime, Catalogue, Copy, CopyId, EventId, Kernel, KernelId, OperationId, OperationKind, Origin,
    Placement, StreamId, StreamSpec, WorkloadError,
};
use pyo3::exceptions::{PyIndexError, PyRuntimeError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;

use crate::errors::{Failure, SimulationError};
use crate::given::Given;
use crate::options::{named, time};
use crate::run::Run;
use crate::scenario::Scenario;
use crate::work::{EVERY, allowance, took_too_much};

/// What is noted during a call.
#[derive(Debug)]
enum Noted {
    Stream(StreamSpec),
    Kernel(Kernel),
    Copy(Copy),
    Event(Arc<str>),
    Submit(StreamId, OperationKind, Origin),
    WakeAt(Instant, u64),
}

/// The GPU as a scheduler sees it.
///
/// Kernels, copies, events and streams have numbers from 0, each kind its own, and so have the operations that are
/// submitted. Times are strings with a unit, or whole nanoseconds; a priority is higher the lower its number.
#[pyclass(module = "gpusched")]
#[derive(Debug)]
pub(crate) struct Gpu {
    catalogue: Catalogue,
    now: Instant,
    submitted: u32,
    completed: Vec<bool>,
    noted: Vec<Noted>,
    /// Whether the run has ended.
    is_over: bool,
}

fn refused(error: WorkloadError) -> PyErr {
    Python::attach(|py| Failure::input(&error).into_exception(py))
}

impl Gpu {
    /// Refuses whatever comes after the run.
    fn is_running(&self) -> PyResult<()> {
        if self.is_over {
            return Err(PyRuntimeError::new_err("the run of this GPU is over: nothing more happens on it"));
        }
        Ok(())
    }

    fn submit(&mut self, stream: u32, kind: OperationKind, origin: Origin) -> PyResult<u32> {
        self.is_running()?;
        if stream as usize >= self.catalogue.streams().len() {
            return Err(PyIndexError::new_err(format!("there is no stream {stream}")));
        }
        self.noted.push(Noted::Submit(StreamId(stream), kind, origin));
        self.completed.push(false);
        self.submitted += 1;
        Ok(self.submitted - 1)
    }
}

fn known(all: usize, number: u32, what: &str) -> PyResult<()> {
    if (number as usize) < all { Ok(()) } else { Err(PyIndexError::new_err(format!("there is no {what} {number}"))) }
}

fn mask(text: Option<&str>) -> PyResult<Option<SmMask>> {
    let wrong = |error| Python::attach(|py| Failure::input(&error).into_exception(py));
    let read = |text| SmMask::parse(text).map_err(wrong);
    text.map(read).transpose()
}

#[pymethods]
impl Gpu {
    /// The present instant [ns].
    #[getter]
    fn now_ns(&self) -> u64 {
        self.now.as_ns()
    }

    /// SMs of the GPU.
    #[getter]
    fn sms(&self) -> u32 {
        self.catalogue.device().sms
    }

    /// Operations submitted so far.
    #[getter]
    fn submitted(&self) -> u32 {
        self.submitted
    }

    /// Makes a stream; its number. Stream 0, the NULL stream, exists always; a stream that is not `blocking` goes its
    /// way beside it.
    #[pyo3(signature = (name, *, priority = 0, blocking = true, sm_mask = None))]
    fn add_stream(&mut self, name: &str, priority: i32, blocking: bool, sm_mask: Option<&str>) -> PyResult<u32> {
        self.is_running()?;
        let spec = StreamSpec { priority, blocking, sm_mask: mask(sm_mask)?, ..StreamSpec::new(name) };
        let id = self.catalogue.add_stream(spec.clone()).map_err(refused)?;
        self.noted.push(Noted::Stream(spec));
        Ok(id.0)
    }

    /// Makes a kernel known; its number. Each of its blocks of so many threads runs for `duration`, or from `best` to
    /// that; `shared_memory_bytes` are those of a block, and `sm_mask` the SMs that it may use, such as "0,2-5".
    #[pyo3(signature = (name, *, blocks, threads, duration, best = None, registers_per_thread = 0, shared_memory_bytes = 0, sm_mask = None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    fn add_kernel(
        &mut self,
        name: &str,
        blocks: u32,
        threads: u32,
        duration: &Bound<'_, PyAny>,
        best: Option<&Bound<'_, PyAny>>,
        registers_per_thread: u32,
        shared_memory_bytes: u32,
        sm_mask: Option<&str>,
    ) -> PyResult<u32> {
        self.is_running()?;
        let worst = time(duration)?;
        let best = best.map(time).transpose()?.unwrap_or(worst);
        let kernel = Kernel {
            name: name.into(),
            title: name.into(),
            blocks,
            shape: BlockShape { threads, registers_per_thread, shared_memory_bytes },
            duration: BlockTime { best, worst },
            clock: BlockClock::RunTime,
            sm_mask: mask(sm_mask)?,
        };
        let id = self.catalogue.add_kernel(kernel.clone()).map_err(refused)?;
        self.noted.push(Noted::Kernel(kernel));
        Ok(id.0)
    }

    /// Makes a copy known; its number. `direction` is "host-to-device" or "device-to-host"; it takes `duration`, or as
    /// long as its `bytes` take on the device.
    #[pyo3(signature = (direction, *, bytes = None, duration = None))]
    fn add_copy(
        &mut self,
        direction: &Bound<'_, PyAny>,
        bytes: Option<u64>,
        duration: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<u32> {
        self.is_running()?;
        let names = CopyDirection::ALL.map(CopyDirection::name);
        let direction = named(direction, CopyDirection::from_name, &names)?;
        let copy = Copy { direction, bytes, duration: duration.map(time).transpose()? };
        let id = self.catalogue.add_copy(copy).map_err(refused)?;
        self.noted.push(Noted::Copy(copy));
        Ok(id.0)
    }

    /// Makes an event; its number.
    fn add_event(&mut self, name: &str) -> PyResult<u32> {
        self.is_running()?;
        let name: Arc<str> = name.into();
        let id = self.catalogue.add_event(Arc::clone(&name)).map_err(refused)?;
        self.noted.push(Noted::Event(name));
        Ok(id.0)
    }

    /// Launches a kernel; the operation's number. `job` and `iteration` say in reports whose it is.
    #[pyo3(signature = (kernel, stream = 0, *, job = 0, iteration = 0))]
    fn launch(&mut self, kernel: u32, stream: u32, job: u32, iteration: u32) -> PyResult<u32> {
        known(self.catalogue.kernels().len(), kernel, "kernel")?;
        self.submit(stream, OperationKind::Kernel(KernelId(kernel)), Origin { thread: job, iteration })
    }

    /// Submits a copy; the operation's number.
    #[pyo3(signature = (copy, stream = 0, *, job = 0, iteration = 0))]
    fn copy(&mut self, copy: u32, stream: u32, job: u32, iteration: u32) -> PyResult<u32> {
        known(self.catalogue.copies().len(), copy, "copy")?;
        self.submit(stream, OperationKind::Copy(CopyId(copy)), Origin { thread: job, iteration })
    }

    /// Submits a memset; the operation's number.
    #[pyo3(signature = (stream = 0))]
    fn memset(&mut self, stream: u32) -> PyResult<u32> {
        self.submit(stream, OperationKind::Memset, Origin::default())
    }

    /// Records an event; the operation's number.
    #[pyo3(signature = (event, stream = 0))]
    fn record(&mut self, event: u32, stream: u32) -> PyResult<u32> {
        known(self.catalogue.events().len(), event, "event")?;
        self.submit(stream, OperationKind::Record(EventId(event)), Origin::default())
    }

    /// Lets a stream wait for an event; the operation's number.
    #[pyo3(signature = (event, stream = 0))]
    fn wait(&mut self, event: u32, stream: u32) -> PyResult<u32> {
        known(self.catalogue.events().len(), event, "event")?;
        self.submit(stream, OperationKind::Wait(EventId(event)), Origin::default())
    }

    /// Asks for `on_wake(token)` at an instant, or now if that has passed.
    #[pyo3(signature = (at, token = 0))]
    fn wake_at(&mut self, at: &Bound<'_, PyAny>, token: u64) -> PyResult<()> {
        self.is_running()?;
        if token == FIRST {
            return Err(PyIndexError::new_err("tokens are below 2^64 - 1"));
        }
        self.noted.push(Noted::WakeAt(Instant::ZERO + time(at)?, token));
        Ok(())
    }

    /// Whether an operation has completed, as far as the scheduler has been told.
    fn is_complete(&self, operation: u32) -> bool {
        self.completed.get(operation as usize).is_none_or(|completed| *completed)
    }
}

/// The methods of a scheduler; those that it has not are not called.
#[derive(Debug)]
struct Methods {
    start: Option<Py<PyAny>>,
    completed: Option<Py<PyAny>>,
    dispatched: Option<Py<PyAny>>,
    wake: Option<Py<PyAny>>,
    act: Option<Py<PyAny>>,
}

/// The wake-up at t = 0, of which the scheduler is not told.
const FIRST: u64 = u64::MAX;

/// A scheduler written in Python.
struct PythonHost<'py> {
    py: Python<'py>,
    methods: Methods,
    gpu: Py<Gpu>,
    /// What a call raised where the engine cannot be told.
    raised: Option<PyErr>,
    quiet: Quiet,
    memory: MemoryWatch,
}

/// Rounds at one instant without any progress after which a run is given up: a tenth of a second or so.
const MOST_QUIET_ROUNDS: u32 = 100_000;

/// Rounds at one instant since something was submitted or completed.
#[derive(Debug, Default)]
struct Quiet {
    at: Instant,
    submitted: usize,
    rounds: u32,
}

impl Quiet {
    /// One more. A scheduler that asks to be woken at the present instant each time would go on for ever.
    fn round(&mut self, gpu: &impl GpuInterface) -> Result<(), Failure> {
        let (at, submitted) = (gpu.now(), gpu.submitted());
        if (at, submitted) != (self.at, self.submitted) {
            *self = Self { at, submitted, rounds: 0 };
        }
        self.rounds += 1;
        if self.rounds > MOST_QUIET_ROUNDS {
            return Err(Failure::Simulation(format!(
                "the scheduler acts more than {MOST_QUIET_ROUNDS} times at {at} while nothing is submitted and nothing \
                 completes: time does not go on"
            )));
        }
        Ok(())
    }
}

/// Looks at the memory now and then.
struct MemoryWatch {
    /// What may be taken; nothing is known before the first look.
    allowance: OnceCell<Option<Allowance>>,
    calls: u8,
    last: WallTime,
}

impl MemoryWatch {
    fn look(&mut self) -> Result<(), Failure> {
        self.calls = self.calls.wrapping_add(1);
        if self.calls != 0 || self.last.elapsed() < EVERY {
            return Ok(());
        }
        self.last = WallTime::now();
        match self.allowance.get_or_init(allowance).filter(Allowance::is_exceeded) {
            Some(allowance) => Err(took_too_much(&allowance)),
            None => Ok(()),
        }
    }
}

/// Why a run with such a scheduler ends early.
#[derive(Debug)]
enum HostError {
    Raised(PyErr),
    Failed(Failure),
    Run(RunError),
}

impl From<RunError> for HostError {
    fn from(error: RunError) -> Self {
        Self::Run(error)
    }
}

impl From<SubmitError> for HostError {
    fn from(error: SubmitError) -> Self {
        Self::Run(error.into())
    }
}

impl PythonHost<'_> {
    /// Keeps what was raised until the engine can be told.
    fn keep<T>(&mut self, result: PyResult<T>) {
        if let Err(error) = result {
            self.raised.get_or_insert(error);
        }
    }

    /// Tells the engine what was noted.
    fn replay(&mut self, gpu: &mut impl GpuInterface) -> Result<(), HostError> {
        if let Some(error) = self.raised.take() {
            return Err(HostError::Raised(error));
        }
        let noted = std::mem::take(&mut self.gpu.borrow_mut(self.py).noted);
        for one in noted {
            match one {
                Noted::Stream(spec) => drop(gpu.add_stream(spec)?),
                Noted::Kernel(kernel) => drop(gpu.add_kernel(kernel)?),
                Noted::Copy(copy) => drop(gpu.add_copy(copy)?),
                Noted::Event(name) => drop(gpu.add_event(name)?),
                Noted::Submit(stream, kind, origin) => drop(gpu.submit(stream, kind, origin)?),
                Noted::WakeAt(at, token) => gpu.wake_at(at, token),
            }
        }
        Ok(())
    }
}

impl Host for PythonHost<'_> {
    type Error = HostError;

    fn start(&mut self, gpu: &mut impl GpuInterface) -> Result<(), HostError> {
        if let Some(start) = &self.methods.start {
            let result = start.call1(self.py, (&self.gpu,));
            self.keep(result);
        }
        // Nothing happens to what is submitted here before there is a first instant.
        gpu.wake_at(Instant::ZERO, FIRST);
        self.replay(gpu)
    }

    fn on_event(&mut self, event: GpuEvent, gpu: &impl GpuInterface) {
        self.gpu.borrow_mut(self.py).now = gpu.now();
        self.quiet.rounds = 0;
        let (method, operation) = match event {
            GpuEvent::Completed(operation) => {
                if let Some(completed) = self.gpu.borrow_mut(self.py).completed.get_mut(operation.index()) {
                    *completed = true;
                }
                (&self.methods.completed, operation)
            }
            GpuEvent::FullyDispatched(operation) => (&self.methods.dispatched, operation),
        };
        if let Some(method) = method {
            let OperationId(operation) = operation;
            let result = method.call1(self.py, (operation, &self.gpu));
            self.keep(result);
        }
    }

    fn on_wake(&mut self, token: u64) {
        if token == FIRST {
            return;
        }
        if let Some(wake) = &self.methods.wake {
            let result = wake.call1(self.py, (token,));
            self.keep(result);
        }
    }

    fn act(&mut self, gpu: &mut impl GpuInterface) -> Result<(), HostError> {
        self.gpu.borrow_mut(self.py).now = gpu.now();
        self.quiet.round(gpu).map_err(HostError::Failed)?;
        self.memory.look().map_err(HostError::Failed)?;
        // A host without a method of its own to act would never see Ctrl-C.
        let result = match &self.methods.act {
            Some(act) => act.call1(self.py, (&self.gpu,)).map(|_| ()),
            None => self.py.check_signals(),
        };
        self.keep(result);
        self.replay(gpu)
    }
}

/// Runs a scheduler in front of a GPU until nothing is left to happen.
#[pyfunction]
#[pyo3(signature = (host, *, device = None, name = "a scheduler in Python", placement = None, seed = 0, horizon = None))]
pub(crate) fn run_host(
    py: Python<'_>,
    host: &Bound<'_, PyAny>,
    device: Option<&Bound<'_, PyAny>>,
    name: &str,
    placement: Option<&Bound<'_, PyAny>>,
    seed: u64,
    horizon: Option<&Bound<'_, PyAny>>,
) -> PyResult<Run> {
    let device = device_of(py, device)?;
    let names = Placement::ALL.map(Placement::name);
    let placement = placement.map(|name| named(name, Placement::from_name, &names)).transpose()?;
    let placement = placement.unwrap_or(device.placement);
    let horizon = horizon.map(time).transpose()?;
    let limit = horizon.map_or(Instant::MAX, |horizon| Instant::ZERO + horizon);
    let options = GpuOptions { placement, seed, horizon: limit, ..GpuOptions::default() };
    let catalogue = Catalogue::new(device.clone());
    let gpu =
        Gpu { catalogue, now: Instant::ZERO, submitted: 0, completed: Vec::new(), noted: Vec::new(), is_over: false };
    let method = |name: &Bound<'_, pyo3::types::PyString>| -> PyResult<Option<Py<PyAny>>> {
        Ok(host.getattr_opt(name)?.map(Bound::unbind))
    };
    let methods = Methods {
        start: method(intern!(py, "start"))?,
        completed: method(intern!(py, "on_completed"))?,
        dispatched: method(intern!(py, "on_fully_dispatched"))?,
        wake: method(intern!(py, "on_wake"))?,
        act: method(intern!(py, "act"))?,
    };
    if methods.start.is_none() && methods.act.is_none() {
        return Err(PyTypeError::new_err("a scheduler has a method start(gpu) or act(gpu), else it submits nothing"));
    }
    let gpu = Py::new(py, gpu)?;
    let own = gpu.clone_ref(py);
    let memory = MemoryWatch { allowance: OnceCell::new(), calls: 0, last: WallTime::now() };
    let host = PythonHost { py, methods, gpu: own, raised: None, quiet: Quiet::default(), memory };
    let ended = Simulated::of(&device, options, host);
    gpu.borrow_mut(py).is_over = true;
    let Simulated { trace, ended, .. } = match ended {
        Ok(done) => done,
        Err(HostError::Failed(failure)) => return Err(failure.into_exception(py)),
        Err(HostError::Raised(error)) => return Err(error),
        Err(HostError::Run(error)) => return Err(SimulationError::new_err(with_causes(&error))),
    };
    let read = ReadOptions::default();
    let mut builder = ScenarioBuilder::new(name.to_owned(), device, &read);
    builder.settings(Some(placement), Some(seed), horizon);
    let scenario = builder.build();
    let run = LibraryRun {
        scenario: Cow::Owned(scenario.clone()),
        trace,
        ended,
        iterations: Vec::new(),
        cores: Vec::new(),
        held_calls: Vec::new(),
    };
    Ok(Run { scenario: Scenario { scenario: Arc::new(scenario), demands: None }, run: Arc::new(run) })
}

fn device_of(py: Python<'_>, given: Option<&Bound<'_, PyAny>>) -> PyResult<Device> {
    let given = given.map(Given::new).transpose()?.unwrap_or_else(|| Given::File("tx2".into()));
    given.device().map_err(|failure: Failure| failure.into_exception(py))
}

//! gpusched for Python: what `python/gpusched/__init__.py` shows, made of the library.
//!
//! Here stands only what Python needs beside the library: values in, values out, threads, exceptions. Everything long
//! runs on a thread of its own without the interpreter's lock, see [`work`].

mod analyse;
mod audit;
mod blocks;
mod cell;
mod document;
mod errors;
mod evr;
mod file;
mod given;
mod host;
mod options;
mod profile;
mod run;
mod scenario;
mod study;
mod tasks;
mod to_json;
mod warps;
mod work;

use pyo3::prelude::*;

/// The compiled half of the package.
#[pymodule]
fn _gpusched(module: &Bound<'_, PyModule>) -> PyResult<()> {
    errors::add(module)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("BUILTIN_DEVICES", gpusched::device::BUILTIN_NAMES.to_vec())?;
    module.add("OPTIONS", options::all())?;
    module.add_class::<scenario::Scenario>()?;
    module.add_class::<run::Run>()?;
    module.add_class::<document::Document>()?;
    module.add_class::<host::Gpu>()?;
    module.add_class::<study::Study>()?;
    module.add_function(wrap_pyfunction!(run::simulate, module)?)?;
    module.add_function(wrap_pyfunction!(analyse::analyze, module)?)?;
    module.add_function(wrap_pyfunction!(analyse::compare, module)?)?;
    module.add_function(wrap_pyfunction!(analyse::orders, module)?)?;
    module.add_function(wrap_pyfunction!(analyse::residents, module)?)?;
    module.add_function(wrap_pyfunction!(audit::audit, module)?)?;
    module.add_function(wrap_pyfunction!(evr::evr, module)?)?;
    module.add_function(wrap_pyfunction!(profile::import_profile, module)?)?;
    module.add_function(wrap_pyfunction!(profile::occupancy, module)?)?;
    module.add_function(wrap_pyfunction!(tasks::tasks, module)?)?;
    module.add_function(wrap_pyfunction!(tasks::run_tasks, module)?)?;
    module.add_function(wrap_pyfunction!(warps::warps, module)?)?;
    module.add_function(wrap_pyfunction!(host::run_host, module)?)?;
    module.add_function(wrap_pyfunction!(options::near_to, module)?)?;
    module.add_function(wrap_pyfunction!(work::set_memory_limit, module)?)?;
    Ok(())
}

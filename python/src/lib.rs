//! gpusched for Python: what `python/gpusched/__init__.py` shows, made of the library.
//!
//! Here stands only what Python needs beside the library: values in, values out, threads, exceptions. Everything long
//! runs on a thread of its own without the interpreter's lock, see [`work`].

mod blocks;
mod document;
mod errors;
mod given;
mod host;
mod options;
mod run;
mod scenario;
mod study;
mod theory;
mod to_json;
mod work;

use pyo3::prelude::*;

/// The compiled half of the package.
#[pymodule]
fn _gpusched(module: &Bound<'_, PyModule>) -> PyResult<()> {
    errors::add(module)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("BUILTIN_DEVICES", gpusched::device::BUILTIN_NAMES.to_vec())?;
    module.add_class::<scenario::Scenario>()?;
    module.add_class::<run::Run>()?;
    module.add_class::<document::Document>()?;
    module.add_class::<host::Gpu>()?;
    module.add_class::<study::Study>()?;
    module.add_function(wrap_pyfunction!(run::simulate, module)?)?;
    module.add_function(wrap_pyfunction!(run::analyze, module)?)?;
    module.add_function(wrap_pyfunction!(run::compare, module)?)?;
    module.add_function(wrap_pyfunction!(theory::audit, module)?)?;
    module.add_function(wrap_pyfunction!(theory::occupancy, module)?)?;
    module.add_function(wrap_pyfunction!(theory::tasks, module)?)?;
    module.add_function(wrap_pyfunction!(theory::warps, module)?)?;
    module.add_function(wrap_pyfunction!(host::run_host, module)?)?;
    Ok(())
}

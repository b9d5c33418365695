//! The devices that come with the library.

use super::Device;
use crate::json::{Document, JsonError};

/// Names of the built-in devices, the default first.
pub const BUILTIN_NAMES: [&str; 42] = [
    "tx2",
    "tx1",
    "gtx1070",
    "k5000",
    "k20m",
    "titan-v",
    "xavier",
    "xavier-nx",
    "orin",
    "orin-nx",
    "orin-nano",
    "gtx950",
    "gtx1080ti",
    "v100",
    "t4",
    "rtx2080ti",
    "a100-40gb",
    "a100-80gb",
    "a100-80gb-pcie",
    "a800",
    "a30",
    "rtx3080",
    "rtx3090",
    "a10",
    "a40",
    "rtx-a6000",
    "rtx4090",
    "l4",
    "l20",
    "l40",
    "l40s",
    "h100",
    "h100-pcie",
    "h800",
    "h20",
    "h200",
    "b200",
    "b300",
    "thor",
    "gb10",
    "rtx-pro-6000",
    "rtx5090",
];

impl Device {
    /// A built-in device, or `None` if there is none of that name (see [`BUILTIN_NAMES`]).
    ///
    /// # Errors
    /// [`JsonError`] if the embedded file is defective, which a test rules out.
    pub fn builtin(name: &str) -> Result<Option<Self>, JsonError> {
        let Some(text) = Self::builtin_json(name) else { return Ok(None) };
        Self::from_json(name, text).map(Some)
    }

    /// The file of a built-in device, a model for a user's own.
    pub fn builtin_json(name: &str) -> Option<&'static str> {
        Some(match name {
            "tx2" => include_str!("data/tx2.json"),
            "tx1" => include_str!("data/tx1.json"),
            "gtx1070" => include_str!("data/gtx1070.json"),
            "k5000" => include_str!("data/k5000.json"),
            "k20m" => include_str!("data/k20m.json"),
            "titan-v" => include_str!("data/titan-v.json"),
            "xavier" => include_str!("data/xavier.json"),
            "xavier-nx" => include_str!("data/xavier-nx.json"),
            "orin" => include_str!("data/orin.json"),
            "orin-nx" => include_str!("data/orin-nx.json"),
            "orin-nano" => include_str!("data/orin-nano.json"),
            "gtx950" => include_str!("data/gtx950.json"),
            "gtx1080ti" => include_str!("data/gtx1080ti.json"),
            "v100" => include_str!("data/v100.json"),
            "t4" => include_str!("data/t4.json"),
            "rtx2080ti" => include_str!("data/rtx2080ti.json"),
            "a100-40gb" => include_str!("data/a100-40gb.json"),
            "a100-80gb" => include_str!("data/a100-80gb.json"),
            "a100-80gb-pcie" => include_str!("data/a100-80gb-pcie.json"),
            "a800" => include_str!("data/a800.json"),
            "a30" => include_str!("data/a30.json"),
            "rtx3080" => include_str!("data/rtx3080.json"),
            "rtx3090" => include_str!("data/rtx3090.json"),
            "a10" => include_str!("data/a10.json"),
            "a40" => include_str!("data/a40.json"),
            "rtx-a6000" => include_str!("data/rtx-a6000.json"),
            "rtx4090" => include_str!("data/rtx4090.json"),
            "l4" => include_str!("data/l4.json"),
            "l20" => include_str!("data/l20.json"),
            "l40" => include_str!("data/l40.json"),
            "l40s" => include_str!("data/l40s.json"),
            "h100" => include_str!("data/h100.json"),
            "h100-pcie" => include_str!("data/h100-pcie.json"),
            "h800" => include_str!("data/h800.json"),
            "h20" => include_str!("data/h20.json"),
            "h200" => include_str!("data/h200.json"),
            "b200" => include_str!("data/b200.json"),
            "b300" => include_str!("data/b300.json"),
            "thor" => include_str!("data/thor.json"),
            "gb10" => include_str!("data/gb10.json"),
            "rtx-pro-6000" => include_str!("data/rtx-pro-6000.json"),
            "rtx5090" => include_str!("data/rtx5090.json"),
            _ => return None,
        })
    }

    /// Reads a device file; `file` is its name in errors.
    ///
    /// # Errors
    /// [`JsonError`] with the position of what is wrong.
    pub fn from_json(file: &str, text: &str) -> Result<Self, JsonError> {
        let document = Document::parse(file, text)?;
        super::file::device(document.root()).map_err(|problem| document.locate(problem))
    }
}

//! An instance of the problem as a file, from which the report's program works too (section 6, Fig. 4).

use super::kernel_string::{KernelString, Sigma, Unit};
use crate::json::{Document, JsonError, Node, Object, Problem};

/// Threads of a warp where the file does not say.
const WARP_SIZE: u32 = 32;

/// What a file of one kernel string, its units and its number of warps asks (format `gpusched-warps/1`).
///
/// A unit has its sigma, or, as in Eq. 1 and 2 of the report, the `count` of units of its kind, which is divided by the
/// `warp_size` of the file. The report's own format is not known here: what we have of it is the caption of its Fig. 4.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instance {
    /// The string as the file has it.
    pub text: String,
    /// What every warp executes.
    pub string: KernelString,
    /// Number of warps.
    pub warps: u32,
    /// Estimate from the worst cases of 1 to so many warps.
    pub estimate_from: Option<u32>,
}

impl Instance {
    /// Reads an instance; `file` is its name in errors.
    ///
    /// # Errors
    /// [`JsonError`] with the position of what is wrong.
    pub fn from_json(file: &str, text: &str) -> Result<Self, JsonError> {
        let document = Document::parse(file, text)?;
        instance(document.root()).map_err(|problem| document.locate(problem))
    }
}

fn instance(root: Node<'_>) -> Result<Instance, Problem> {
    let mut file = root.object()?;
    let format = file.required("format")?;
    if format.string()? != "gpusched-warps/1" {
        return Err(format.expected("\"gpusched-warps/1\""));
    }
    let string = file.required("string")?;
    let warps = file.required("warps")?.whole_u32(0, u32::MAX)?;
    let warp_size = file.optional("warp_size")?.map_or(Ok(WARP_SIZE), |size| size.whole_u32(1, u32::MAX))?;
    let mut units = vec![Unit::new('L'), Unit::new('C')];
    let mut stated = Vec::new();
    for entry in file.optional("units")?.map_or(Ok(Vec::new()), |list| list.list())? {
        let mut fields = entry.object()?;
        let unit = unit(&mut fields, warp_size)?;
        if stated.contains(&unit.letter) {
            return Err(entry.problem(format!("two units have the letter {}", unit.letter)));
        }
        stated.push(unit.letter);
        match units.iter_mut().find(|known| known.letter == unit.letter) {
            Some(known) => *known = unit,
            None => units.push(unit),
        }
        fields.finish()?;
    }
    let uninterrupted = file.optional("uninterrupted")?.map_or(Ok(false), |answer| answer.boolean())?;
    let estimate_from = file.optional("estimate_from")?.map(|from| from.whole_u32(1, u32::MAX)).transpose()?;
    file.finish()?;

    let text = string.string()?;
    let parsed = KernelString::parse(&text, &units).map_err(|error| string.problem(error.to_string()))?;
    let parsed = if uninterrupted { parsed.uninterrupted() } else { parsed };
    Ok(Instance { text, string: parsed, warps, estimate_from })
}

fn unit(fields: &mut Object<'_>, warp_size: u32) -> Result<Unit, Problem> {
    let node = fields.required("letter")?;
    let letter = Unit::letter_of(&node.string()?).ok_or_else(|| node.expected("one capital letter"))?;
    let sigma = match (fields.optional("sigma")?, fields.optional("count")?) {
        (Some(_), Some(count)) => {
            return Err(count.problem("both \"sigma\" and \"count\" are given: sigma follows from the count"));
        }
        (Some(sigma), None) => {
            let stated = if sigma.is_string() { sigma.string()? } else { sigma.raw().to_owned() };
            stated.parse::<Sigma>().map_err(|error| sigma.problem(error.to_string()))?
        }
        (None, Some(count)) => {
            let units = count.whole_u32(1, u32::MAX)?;
            let divided = format!("{units}/{warp_size}").parse::<Sigma>();
            divided.map_err(|error| count.problem(format!("divided by the warp size: {error}")))?
        }
        (None, None) => Sigma::ONE,
    };
    let cycles = fields.optional("cycles")?.map_or(Ok(1), |cycles| cycles.whole_u32(1, u32::MAX))?;
    Ok(Unit { letter, sigma, cycles })
}

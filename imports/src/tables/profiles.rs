//! What became of a profile when it was imported, and the audit of a profile.

use crate::device::Device;
use crate::formats::{Column, DocumentWriter, Page, Report, Rows, fields};
use crate::profile::{
    GpuProfile, GpuProfileError, Import, ImportedStream, JudgedStart, ProfileAudit, StartVerdict, TELLING_WAVES,
    audit_profile, short_name,
};
use crate::time::Instant;
use crate::words::counted;
use gpusched_core::tables::{HINT, signed_time};

fn start_columns<'c>() -> [Column<&'c JudgedStart>; 11] {
    [
        Column::new("verdict", "verdict", |start: &&JudgedStart| start.verdict.name().into()).left(),
        Column::new("rule", "rule", |start: &&JudgedStart| start.rule.into()).left(),
        Column::data("kernel", |start: &&JudgedStart| start.kernel.as_str().into()),
        Column::table("kernel", |start: &&JudgedStart| short_name(&start.kernel).into()).names(),
        Column::new("stream", "stream", |start| start.stream.into()),
        Column::new("at_ns", "at", |start| Instant::from_ns(start.at_ns).into()),
        Column::data("by", |start: &&JudgedStart| start.by.as_deref().into()),
        Column::table("by", |start: &&JudgedStart| start.by.as_deref().map(short_name).into()).left(),
        Column::new("by_stream", "in stream", |start| start.by_stream.into()),
        Column::data("late_ns", |start| start.late_ns.map(i128::from).into()),
        Column::table("late by", |start: &&JudgedStart| {
            start.late_ns.map_or_else(String::new, |late| signed_time(late.into())).into()
        }),
    ]
}

/// An audit of a profile.
#[derive(Debug)]
pub struct ProfileAuditReport {
    /// What was found.
    pub(crate) audit: ProfileAudit,
    /// The device's name.
    pub device: String,
    /// What its user should know.
    pub notes: Vec<String>,
}

impl ProfileAuditReport {
    /// Whether the rules explain all that was found.
    pub fn is_explained(&self) -> bool {
        self.audit.unexplained == 0
    }
}

/// Counts, and the starts that were judged: for people those that the rules do not explain.
impl Report for ProfileAuditReport {
    const IS_INDENTED: bool = true;
    const TABLE: &'static str = "cases";

    fn document<D: DocumentWriter>(&self, to: &mut D) -> Result<(), D::Error> {
        let audit = &self.audit;
        fields!(to, audit => kernels, explained, only_by_higher_priority, unexplained, by_rule, long_first_kernels);
        to.list("priorities", &audit.priorities)?;
        to.elements("cases", &audit.starts, &start_columns(), &audit.starts)?;
        fields!(to, self => device, notes);
        Ok(())
    }

    fn text(&self, page: &mut Page) {
        let audit = &self.audit;
        let ProfileAudit { kernels, explained, only_by_higher_priority, unexplained, long_first_kernels, .. } = audit;
        page.line(&format!(
            "{}; cases: {explained} explained, {only_by_higher_priority} only by a higher priority, {unexplained} \
             unexplained",
            counted(*kernels, "kernel")
        ));
        let rules: Vec<String> = audit.by_rule.iter().map(|(rule, count)| format!("{rule} {count}")).collect();
        page.line(&format!("by rule: {}", rules.join(", ")));
        page.line(&format!(
            "{} of {} that met one of another stream with more than {TELLING_WAVES} waves started in its last \
             wave",
            long_first_kernels.in_last_wave,
            counted(long_first_kernels.pairs, "kernel")
        ));
        for priority in &audit.priorities {
            page.line(&format!(
                "stream {} seems to have a higher priority than stream {} ({})",
                priority.stream,
                priority.above,
                counted(priority.times, "time")
            ));
        }
        let shows_all = !page.is_cut();
        let is_shown = |start: &&JudgedStart| shows_all || start.verdict != StartVerdict::Explained;
        let shown: Vec<&JudgedStart> = audit.starts.iter().filter(is_shown).collect();
        if !shown.is_empty() {
            page.blank();
            page.trimmed_table(&start_columns(), shown);
            page.line(HINT);
        }
    }
}

impl ProfileAuditReport {
    /// Audits what ran on one GPU of a profile: the one with this number, or the one that ran most kernels. Without a
    /// `device` it is taken for the one that the profile names.
    ///
    /// # Errors
    /// [`GpuProfileError`] if there is no such GPU, or nothing is known of its model.
    pub fn of(profile: &GpuProfile, gpu: Option<u32>, device: Option<Device>) -> Result<Self, GpuProfileError> {
        let (gpu, choice) = profile.choose_gpu(gpu)?;
        let mut notes: Vec<String> = choice.into_iter().collect();
        notes.extend(profile.left_out_notes());
        if profile.kernel_gap(gpu).is_some_and(|gap| gap.scattered) {
            notes.push(
                "gaps between kernels of one stream are very different, as if the file had only some of the kernels: what \
                 starts late behind one that is missing counts as unexplained"
                    .to_owned(),
            );
        }
        let device = match device {
            Some(device) => device,
            None => profile.device(gpu)?,
        };
        Ok(Self { audit: audit_profile(profile, gpu, &device), device: device.name.clone(), notes })
    }
}

fn stream_columns<'s>() -> [Column<&'s ImportedStream>; 3] {
    [
        Column::new("stream", "stream", |stream: &&ImportedStream| stream.name.as_str().into()).left(),
        Column::new("priority", "priority", |stream| i64::from(stream.priority).into()),
        Column::new("operations", "operations", |stream| stream.operations.into()),
    ]
}

/// The streams of a profile and what was counted.
impl Report for Import {
    const IS_INDENTED: bool = true;
    const TABLE: &'static str = "streams";

    fn document<D: DocumentWriter>(&self, to: &mut D) -> Result<(), D::Error> {
        to.entry("device", &self.scenario.device().name)?;
        fields!(to, self => gpu, kernels, copies, memsets);
        to.elements("streams", &self.streams, &stream_columns(), &self.streams)?;
        fields!(to, self => block_times);
        to.entry("launch_latency_ns", &self.launch_latency.map(|latency| latency.latency_ns))?;
        to.entry("kernel_gap_ns", &self.kernel_gap.map(|gap| gap.gap_ns))?;
        to.entry("notes", &self.scenario.notes)
    }

    /// How many block times are from where is among the notes.
    fn text(&self, page: &mut Page) {
        let Self { kernels, copies, memsets, .. } = self;
        let numbers =
            [(kernels, "kernel"), (copies, "copy"), (memsets, "memset")].map(|(count, of)| counted(*count, of));
        page.line(&format!("{}: {}", self.scenario.device().title, numbers.join(", ")));
        page.blank();
        page.trimmed_table(&stream_columns(), &self.streams);
    }
}

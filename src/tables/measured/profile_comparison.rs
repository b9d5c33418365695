//! Two profiles side by side, as recorded.

use std::cmp::Reverse;

use super::activity::{activity_rows, activity_table, of_profiles};
use crate::experiments::profile_replay::{KernelChange, ProfileComparison};
use crate::formats::{Column, DocumentWriter, Page, Report, Rows, fields};
use crate::profile::short_name;
use crate::spelling::formats;
use crate::tables::signed;
use crate::time::Duration;
use crate::words::counted;

fn columns<'k>() -> [Column<&'k KernelChange>; 11] {
    [
        Column::data("name", |kernel: &&KernelChange| (&*kernel.name).into()),
        Column::table("kernel", |kernel: &&KernelChange| short_name(&kernel.name).into()).names(),
        Column::new("first_launches", "launches, first", |kernel| kernel.launches[0].into()),
        Column::new("second_launches", "second", |kernel| kernel.launches[1].into()),
        Column::data("first_ns", |kernel| kernel.total_ns[0].into()),
        Column::table("total time, first", |kernel| Duration::from_ns(kernel.total_ns[0]).into()),
        Column::data("second_ns", |kernel| kernel.total_ns[1].into()),
        Column::table("second", |kernel| Duration::from_ns(kernel.total_ns[1]).into()),
        Column::data("first_median_ns", |kernel| kernel.median_ns[0].into()),
        Column::data("second_median_ns", |kernel| kernel.median_ns[1].into()),
        Column::table("change", |kernel| signed::difference(kernel.change_ns()).into()),
    ]
}

/// Kernels of a table at most.
const SHOWN: usize = 20;

/// What both GPUs did in sums, and the kernels, for people those whose total time changes most.
impl Report for ProfileComparison {
    const IS_INDENTED: bool = true;
    const TABLE: &'static str = "kernels";

    fn document<D: DocumentWriter>(&self, to: &mut D) -> Result<(), D::Error> {
        fields!(to, self => files, first, second, collectives);
        to.rows("kernels", &columns(), &self.kernels)
    }

    fn text(&self, page: &mut Page) {
        let [first, second] = &self.files;
        page.line(&format!("recorded: first {first}, second {second}"));
        activity_table(page, &activity_rows(&self.first, &self.second), &of_profiles());
        page.blank();
        if let Some(split) = &self.collectives {
            let ([first, second], time) = (split.ranks, Duration::from_ns);
            page.line(&match split.matched {
                0 => format!(
                    "no collectives of ranks {first} and {second} go together: waiting is not told from transfer"
                ),
                matched => format!(
                    "{} of ranks {first} and {second}, ending together: transfer {}; waiting, at least, \
                     as other ranks may come later: rank {first} {}, rank {second} {}",
                    counted(matched, "collective"),
                    time(split.transfer_ns),
                    time(split.waiting_ns[0]),
                    time(split.waiting_ns[1]),
                ),
            });
            if split.unmatched != [0, 0] {
                let [first, second] = split.unmatched;
                page.line(&format!(
                    "not split: {first} and {second} of functions that they launched differently often"
                ));
            }
            page.blank();
        } else if self.first.communication_ns > 0 && self.second.communication_ns > 0 {
            page.line(
                "the profiles do not state that they are of two ranks of one run: waiting of collectives is not told from \
                 transfer",
            );
            page.blank();
        }
        let mut most: Vec<&KernelChange> = self.kernels.iter().collect();
        crate::sorted::sort_by_key(&mut most, |kernel| Reverse(kernel.change_ns().unsigned_abs()));
        let rest = " kernels, whose total time changes less";
        page.first_rows(SHOWN, &columns(), most, rest, &formats(&["json", "csv"]));
    }
}

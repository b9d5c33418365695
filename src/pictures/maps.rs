//! Fields of coloured cells.

pub(super) mod blame_map;
pub(super) mod campaign_figure;
pub(super) mod region_map;
pub(super) mod scheduler_regions;

//! The register file of an SM, whose warps need not all take the same.

use super::BlockDemand;
use crate::device::{Device, RegisterDealing};

/// What is known of the register file of one SM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RegisterFile {
    sub_partitions: u32,
    /// Registers of one sub-partition.
    size: u32,
    unit: u32,
    dealing: RegisterDealing,
}

/// The warps on an SM, by how many registers one takes: (registers, warps), ascending, none of them without warps.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct ResidentWarps(Vec<(u32, u32)>);

impl ResidentWarps {
    /// With `warps` warps more that take so many registers each.
    pub(crate) fn add(&mut self, registers: u32, warps: u32) {
        if registers == 0 || warps == 0 {
            return;
        }
        match self.0.binary_search_by_key(&registers, |(known, _)| *known) {
            Ok(place) => self.0[place].1 = self.0[place].1.saturating_add(warps),
            Err(place) => self.0.insert(place, (registers, warps)),
        }
    }

    /// Without `warps` of them.
    pub(crate) fn remove(&mut self, registers: u32, warps: u32) {
        if let Ok(place) = self.0.binary_search_by_key(&registers, |(known, _)| *known) {
            self.0[place].1 = self.0[place].1.saturating_sub(warps);
            if self.0[place].1 == 0 {
                self.0.remove(place);
            }
        }
    }

    /// What all take, if `of_warp` says what one of so many registers takes.
    fn sum(&self, of_warp: impl Fn(u32) -> u32) -> u32 {
        self.0.iter().fold(0, |sum, &(registers, warps)| of_warp(registers).saturating_mul(warps).saturating_add(sum))
    }
}

impl RegisterFile {
    /// That of an SM of `device`.
    pub(crate) fn of(device: &Device) -> Self {
        let allocation = &device.register_allocation;
        // A device has at least one sub-partition, of at least one register.
        let sub_partitions = allocation.sub_partitions.max(1);
        Self {
            sub_partitions,
            size: device.per_sm.registers / sub_partitions,
            unit: allocation.unit_per_warp.max(1),
            dealing: allocation.dealing,
        }
    }

    /// How many warps it holds that take so many registers each, all out of one sub-partition.
    pub(crate) fn places(&self, registers: u32) -> u32 {
        self.size.checked_div(registers).unwrap_or(0) * self.sub_partitions
    }

    /// Registers that warps of so many can take; where there is no place for one, what they would have to come out of.
    pub(crate) fn most_of(&self, registers: u32) -> u32 {
        (self.places(registers) * registers).max(self.size)
    }

    /// Registers that can be taken at all: the units of all sub-partitions.
    pub(crate) fn usable(&self) -> u32 {
        self.size / self.unit * self.unit * self.sub_partitions
    }

    /// How many blocks there are registers for beside `resident` warps. `None`: they take none.
    pub(crate) fn room(&self, resident: &ResidentWarps, demand: &BlockDemand) -> Option<u32> {
        let (own, warps) = (demand.registers_per_warp(), demand.warps);
        match *resident.0 {
            // As many as there are places for: `floor(F / s)` units are no fewer than `floor(F / r) floor(r / s)`.
            [] if own > 0 => Some(self.places(own) / warps),
            [(registers, taken)] if registers == own && own > 0 => Some(self.places(own).saturating_sub(taken) / warps),
            _ => {
                let room = |pieces: Pieces| self.places(pieces.size).saturating_sub(pieces.taken) / pieces.of_block;
                self.pieces(resident, demand).map(room).min()
            }
        }
    }

    /// How many registers a block lacks beside `resident` warps: the pieces that are missing, times their size.
    pub(crate) fn lack(&self, resident: &ResidentWarps, demand: &BlockDemand) -> u32 {
        let missing = |pieces: &Pieces| (pieces.taken + pieces.of_block).saturating_sub(self.places(pieces.size));
        self.pieces(resident, demand).map(|pieces| missing(&pieces).saturating_mul(pieces.size)).max().unwrap_or(0)
    }

    /// What decides whether there is room for a block beside `resident` warps; nothing if it takes no registers.
    ///
    /// A sub-partition of `F` registers has `floor(F / s)` pieces of `s`, of which a warp of `r` registers takes no
    /// fewer than `floor(r / s)` and spoils no more than `ceil(r / s)`. Dealt at best, there is room unless for some
    /// `s` (the unit, or what a warp takes) pieces are too few; dealt at worst, only where those that no other warp
    /// spoils are enough. Where all warps take the same, both say how many there are places for.
    fn pieces(&self, resident: &ResidentWarps, demand: &BlockDemand) -> impl Iterator<Item = Pieces> {
        let (own, warps) = (demand.registers_per_warp(), demand.warps);
        let is_worst = self.dealing == RegisterDealing::Worst;
        let at_best = move |size: u32| {
            let taken = resident.sum(|other| other / size);
            Pieces { size, taken, of_block: own / size * warps }
        };
        let sizes = resident.0.iter().map(|(size, _)| *size).filter(move |size| *size < own).chain([self.unit, own]);
        let best = sizes.filter(move |_| !is_worst && own > 0).map(at_best);
        let worst = (is_worst && own > 0).then(|| {
            let taken = resident.sum(|other| other.div_ceil(own));
            Pieces { size: own, taken, of_block: warps }
        });
        worst.into_iter().chain(best)
    }
}

/// Equal pieces of the sub-partitions, and how many of them are taken, and a block takes.
struct Pieces {
    size: u32,
    taken: u32,
    of_block: u32,
}

//! Clients of MPS that may use a part of the SMs only.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::canonical::Canonical;
use crate::workload::{Catalogue, Part, Placement, ProcessId, Start, by_number};

/// Keeps this choice independent of others under one seed.
const CLIENTS: u64 = 0x6d70_7363_6c69_656e;

/// On which SMs each client has blocks, and on how many it may.
///
/// A client uses an SM as long as it has a block there; which SMs it uses may change. While it uses fewer than it may,
/// its next block may go to any SM, or to any that nobody else uses if all may use no more SMs together than there are;
/// when it uses as many, only to one of those.
#[derive(Debug, Clone)]
pub(super) struct Clients {
    of_process: Vec<Client>,
    /// How many of them use each SM.
    users: Vec<u32>,
    /// Whether no two of them use an SM at once.
    are_disjoint: bool,
    /// SMs that a client may take now.
    allowed: Vec<bool>,
    ranked: Vec<Part>,
}

#[derive(Debug, Clone)]
struct Client {
    /// SMs at most.
    most: usize,
    /// SMs that it uses.
    used: usize,
    /// Its blocks on each SM.
    blocks: Vec<u32>,
}

impl Clients {
    /// The clients, if one of them may use only a part of the device.
    pub(super) fn new(catalogue: &Catalogue) -> Option<Self> {
        let sms = catalogue.device().sms as usize;
        let client = |process| Client { most: catalogue.sms_at_once(process) as usize, used: 0, blocks: vec![0; sms] };
        let of_process: Vec<Client> = (0..).map(ProcessId).take(catalogue.processes().len()).map(client).collect();
        let some_is_limited = of_process.iter().any(|client| client.most < sms);
        some_is_limited.then(|| Self {
            of_process,
            users: vec![0; sms],
            are_disjoint: catalogue.clients_are_disjoint(),
            allowed: vec![false; sms],
            ranked: Vec::new(),
        })
    }

    /// None of them uses any SM.
    pub(super) fn clear(&mut self) {
        self.users.fill(0);
        for client in &mut self.of_process {
            client.used = 0;
            client.blocks.fill(0);
        }
    }

    /// Writes the state.
    pub(super) fn write_state(&self, to: &mut Canonical) {
        // What follows from the blocks, what is given, and room to work in.
        let Self { of_process, users: _, are_disjoint: _, allowed: _, ranked: _ } = self;
        to.list(of_process, |to, client| {
            // `used` is how many of the others are not 0, and the most is given.
            let Client { most: _, used: _, blocks } = client;
            to.list(blocks, |to, &blocks| to.number(blocks));
        });
    }

    /// Blocks of a client begin on an SM.
    pub(super) fn take(&mut self, process: ProcessId, sm: u16, blocks: u16) {
        let client = &mut self.of_process[process.index()];
        let own = &mut client.blocks[usize::from(sm)];
        let is_another = *own == 0 && blocks > 0;
        client.used += usize::from(is_another);
        self.users[usize::from(sm)] += u32::from(is_another);
        *own += u32::from(blocks);
    }

    /// Blocks of a client have ended on an SM.
    pub(super) fn give_back(&mut self, process: ProcessId, sm: u16, blocks: u16) {
        let client = &mut self.of_process[process.index()];
        let own = &mut client.blocks[usize::from(sm)];
        *own -= u32::from(blocks);
        let is_left = *own == 0 && blocks > 0;
        client.used -= usize::from(is_left);
        self.users[usize::from(sm)] -= u32::from(is_left);
    }

    /// Leaves of `parts`, SMs with room in the order of preference, those that a client may take: where it has blocks,
    /// and as many others as it may use besides, of which the policy would take the first. Says whether one had to go.
    pub(super) fn restrict(
        &mut self,
        process: ProcessId,
        placement: Placement,
        start: &Start,
        parts: &mut Vec<Part>,
    ) -> bool {
        let Client { most, used, blocks } = &self.of_process[process.index()];
        let with_room = parts.len();
        if self.are_disjoint {
            parts.retain(|part| blocks[usize::from(part.sm)] > 0 || self.users[usize::from(part.sm)] == 0);
        }
        let others = parts.iter().filter(|part| blocks[usize::from(part.sm)] == 0);
        self.ranked.clear();
        self.ranked.extend(others.copied());
        let free = most.saturating_sub(*used);
        if free >= self.ranked.len() {
            return parts.len() < with_room;
        }
        match placement {
            _ if placement.deals(start.first_block) => {
                self.ranked.sort_by_key(|part| by_number(*part, start.lone_from));
            }
            Placement::MostRoom | Placement::Gpc | Placement::GpcMostRoom => {
                self.ranked.sort_by_key(|part| std::cmp::Reverse(part.room));
            }
            Placement::RoundRobin => self.ranked.sort_by_key(|part| (u32::from(part.sm) < start.cursor, part.sm)),
            Placement::LowestId => self.ranked.sort_by_key(|part| part.sm),
            Placement::Random => {
                let mut numbers = ChaCha8Rng::seed_from_u64(start.seed ^ CLIENTS);
                numbers.set_stream(u64::from(start.operation) << 32 | u64::from(start.first_block));
                self.ranked.shuffle(&mut numbers);
            }
        }
        self.allowed.fill(false);
        for part in self.ranked.iter().take(free) {
            self.allowed[usize::from(part.sm)] = true;
        }
        parts.retain(|part| blocks[usize::from(part.sm)] > 0 || self.allowed[usize::from(part.sm)]);
        true
    }
}

//! Families of random scenarios, by what they have.

/// What a step does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Launch,
    Transfer,
    Memset,
    Record,
    Wait,
    Graph,
    Sleep,
    Work,
    Last,
    Stream,
    Device,
    Event,
    Barrier,
    Repeat,
}

impl Kind {
    /// Whether a stream may do it by itself.
    pub(super) const fn is_operation(self) -> bool {
        matches!(self, Self::Launch | Self::Transfer | Self::Memset | Self::Record | Self::Wait | Self::Graph)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sharing {
    OneProcess,
    Turns,
    Clients,
    /// Green contexts of one process.
    Green,
}

/// What the scenarios of a family may have.
#[derive(Debug)]
pub(super) struct Family {
    pub(super) name: &'static str,
    /// Kinds of steps, each as often as it is named.
    pub(super) steps: &'static [Kind],
    pub(super) most_steps: usize,
    /// At least and at most.
    pub(super) programs: (usize, usize),
    /// The share of hosts among these; others are streams with operations.
    pub(super) hosts: f64,
    /// \[ns\]
    pub(super) periods: &'static [u64],
    pub(super) jitter: bool,
    pub(super) shares_streams: bool,
    /// Barriers before iterations, and hosts that come equally often.
    pub(super) meets: bool,
    pub(super) cores: bool,
    pub(super) masks: bool,
    pub(super) limits: bool,
    pub(super) endless: bool,
    pub(super) one_sm: bool,
    pub(super) channels: bool,
    pub(super) latencies: bool,
    pub(super) links: bool,
    /// Whether some hosts are released by the ends of jobs of others.
    pub(super) triggers: bool,
    pub(super) sharing: Sharing,
}

use Kind::{Barrier, Device, Event, Graph, Last, Launch, Memset, Record, Repeat, Sleep, Stream, Transfer, Wait, Work};

/// Streams of a few operations.
const STREAMS: Family = Family {
    name: "streams",
    steps: &[Launch, Launch, Launch, Transfer, Memset],
    most_steps: 4,
    programs: (1, 4),
    hosts: 0.0,
    periods: &[8, 12, 16, 20, 30, 40, 60, 100],
    jitter: true,
    shares_streams: false,
    meets: false,
    cores: false,
    masks: false,
    limits: false,
    endless: false,
    one_sm: false,
    channels: false,
    latencies: false,
    links: false,
    triggers: false,
    sharing: Sharing::OneProcess,
};

const WAITS: Family = Family {
    name: "waits",
    steps: &[Launch, Launch, Launch, Transfer, Memset, Sleep, Last, Stream, Device, Record, Event, Wait, Repeat],
    most_steps: 6,
    programs: (1, 3),
    hosts: 0.8,
    periods: &[12, 20, 30, 40, 60, 100, 150],
    ..STREAMS
};

const BARRIERS: Family = Family {
    name: "barriers",
    steps: &[Launch, Launch, Transfer, Sleep, Last, Stream, Device, Barrier, Barrier],
    programs: (2, 4),
    jitter: false,
    meets: true,
    ..WAITS
};

const GREEN: Family = Family {
    name: "green contexts",
    steps: &[Launch, Launch, Launch, Transfer, Transfer, Work, Sleep, Last, Stream],
    programs: (2, 4),
    sharing: Sharing::Green,
    ..WAITS
};

const TRIGGERS: Family = Family {
    name: "triggers",
    steps: &[Launch, Launch, Transfer, Sleep, Work, Work, Last, Stream],
    most_steps: 3,
    programs: (2, 5),
    hosts: 0.9,
    cores: true,
    triggers: true,
    ..WAITS
};

pub(super) const ALL: &[Family] = &[
    STREAMS,
    Family {
        name: "jobs that queue",
        steps: &[Launch],
        most_steps: 1,
        periods: &[5, 6, 8, 10, 12, 15, 20, 30],
        one_sm: true,
        ..STREAMS
    },
    WAITS,
    Family { name: "shared streams", shares_streams: true, ..WAITS },
    BARRIERS,
    Family {
        name: "little work",
        steps: &[Memset, Sleep, Sleep, Last, Stream, Device, Event, Record, Wait, Launch],
        most_steps: 4,
        shares_streams: true,
        hosts: 0.7,
        ..WAITS
    },
    Family {
        name: "cores",
        steps: &[Launch, Launch, Transfer, Sleep, Work, Work, Last, Stream, Device, Event, Record],
        cores: true,
        hosts: 0.9,
        programs: (1, 4),
        ..WAITS
    },
    TRIGGERS,
    Family { name: "triggers and queues", most_steps: 2, periods: &[8, 10, 12, 15, 20], programs: (2, 3), ..TRIGGERS },
    Family { name: "triggers and streams", cores: false, hosts: 0.7, shares_streams: true, ..TRIGGERS },
    Family { name: "triggers without end", endless: true, jitter: false, periods: &[20, 40, 40, 80], ..TRIGGERS },
    Family { name: "triggers and turns", sharing: Sharing::Turns, cores: false, ..TRIGGERS },
    Family { name: "turns", sharing: Sharing::Turns, ..WAITS },
    Family { name: "clients", sharing: Sharing::Clients, ..WAITS },
    GREEN,
    Family { name: "green contexts and links", links: true, ..GREEN },
    Family { name: "channels", channels: true, ..WAITS },
    Family {
        name: "green contexts and channels",
        steps: &[Launch, Launch, Graph, Graph, Transfer, Work, Sleep, Last, Stream],
        channels: true,
        ..GREEN
    },
    Family { name: "turns and channels", channels: true, sharing: Sharing::Turns, ..WAITS },
    Family { name: "latencies and gaps", latencies: true, ..WAITS },
    Family {
        name: "shared links",
        links: true,
        steps: &[Launch, Transfer, Transfer, Last, Stream, Sleep, Device],
        ..WAITS
    },
    Family {
        name: "masks and graphs",
        steps: &[Launch, Launch, Graph, Transfer, Last, Stream, Sleep],
        most_steps: 3,
        masks: true,
        hosts: 0.5,
        ..WAITS
    },
    Family { name: "time limits", limits: true, jitter: false, ..WAITS },
    Family {
        name: "streams without end",
        endless: true,
        jitter: false,
        periods: &[12, 24, 24, 48, 48],
        programs: (1, 3),
        ..STREAMS
    },
    Family {
        name: "hosts without end",
        endless: true,
        jitter: false,
        periods: &[20, 40, 40, 80, 80],
        shares_streams: true,
        ..WAITS
    },
    Family { name: "barriers without end", endless: true, periods: &[20, 20, 40, 80], programs: (2, 3), ..BARRIERS },
    Family {
        name: "all together",
        steps: &[
            Launch, Launch, Launch, Transfer, Memset, Sleep, Work, Last, Stream, Device, Record, Event, Wait, Repeat,
            Barrier, Graph,
        ],
        shares_streams: true,
        meets: true,
        cores: true,
        masks: true,
        limits: true,
        triggers: true,
        sharing: Sharing::Turns,
        channels: true,
        latencies: true,
        links: true,
        ..WAITS
    },
];

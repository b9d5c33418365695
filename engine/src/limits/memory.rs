//! How much memory there is.

use std::fs;
use std::path::Path;

/// What the system says of memory \[bytes\].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory {
    /// What this process holds.
    pub held: u64,
    /// What it may take beyond that: the least that the machine, or one of the control groups around the process, has
    /// left.
    pub free: u64,
    /// What is left of the addresses that it may use (`ulimit -v`); [`u64::MAX`] if they are not limited.
    pub addresses: u64,
}

impl Memory {
    /// At present. `None` where the system does not tell in the way of Linux.
    pub fn now() -> Option<Self> {
        Self::told_below(Path::new("/"))
    }

    /// What the files of the system tell that stands below `root`.
    fn told_below(root: &Path) -> Option<Self> {
        let read = |path: &str| fs::read_to_string(root.join(path)).ok();
        let status = read("proc/self/status")?;
        let machine = kilobytes(&read("proc/meminfo")?, "MemAvailable:")?;
        let groups = read("proc/self/cgroup").unwrap_or_default();
        let left = groups.lines().filter_map(|line| left_in_groups(root, line)).min();
        let limit = read("proc/self/limits").as_deref().and_then(most_addresses);
        let addresses = limit.map(|most| most.saturating_sub(kilobytes(&status, "VmSize:").unwrap_or(0)));
        Some(Self {
            held: kilobytes(&status, "VmRSS:")?,
            free: left.map_or(machine, |left| left.min(machine)),
            addresses: addresses.unwrap_or(u64::MAX),
        })
    }

    /// What work may take if nobody says otherwise: three quarters of what is free. Of addresses it is half of them, as
    /// a list that grows stands twice for a moment.
    const fn usual(&self) -> u64 {
        let (free, addresses) = (self.free / 4 * 3, self.addresses / 2);
        if free < addresses { free } else { addresses }
    }
}

/// The number behind a key that stands at the beginning of a line, in kB.
fn kilobytes(text: &str, key: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix(key))?;
    value.trim().strip_suffix("kB")?.trim_end().parse::<u64>().ok()?.checked_mul(1 << 10)
}

/// The limit of addresses, of `/proc/self/limits`; `None` if there is none.
fn most_addresses(limits: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// What is left in the control group that a line of `/proc/self/cgroup` names and in those around it, of either
/// version.
fn left_in_groups(root: &Path, line: &str) -> Option<u64> {
    let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
    let (mount, files) = match controllers {
        "" => ("sys/fs/cgroup", ["memory.max", "memory.current", "inactive_file"]),
        _ if controllers.split(',').any(|controller| controller == "memory") => {
            ("sys/fs/cgroup/memory", ["memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"])
        }
        _ => return None,
    };
    let group = Path::new(path.trim_start_matches('/'));
    group.ancestors().filter_map(|group| left_in(&root.join(mount).join(group), files)).min()
}

/// What one control group has left: its limit less what is in use, without the pages of files that nobody used lately,
/// which the system gives back first.
fn left_in(group: &Path, [limit, usage, inactive]: [&str; 3]) -> Option<u64> {
    let number = |file: &str| fs::read_to_string(group.join(file)).ok()?.trim().parse::<u64>().ok();
    let limit = number(limit)?;
    let stat = fs::read_to_string(group.join("memory.stat")).unwrap_or_default();
    let unused = stat.lines().find_map(|line| line.strip_prefix(inactive)?.trim().parse::<u64>().ok()).unwrap_or(0);
    Some(limit.saturating_sub(number(usage)?.saturating_sub(unused)))
}

/// How much memory may be taken from now on.
#[derive(Debug, Clone, Copy)]
pub struct Allowance {
    most: u64,
    /// When it began to count.
    began: Memory,
}

impl Allowance {
    /// So many bytes, or as many as are usual: three quarters of what is free, and half of the addresses that are left
    /// where those are limited. `None` where the system does not tell.
    pub fn new(most: Option<u64>) -> Option<Self> {
        let began = Memory::now()?;
        Some(Self { most: most.unwrap_or_else(|| began.usual()), began })
    }

    /// How many bytes.
    pub fn bytes(&self) -> u64 {
        self.most
    }

    /// Whether the process has taken more since.
    pub fn is_exceeded(&self) -> bool {
        Memory::now().is_some_and(|now| self.is_exceeded_by(&now))
    }

    fn is_exceeded_by(&self, now: &Memory) -> bool {
        now.held.saturating_sub(self.began.held) > self.most || now.addresses < self.began.addresses / 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of files below a folder that is gone in the end.
    fn told(name: &str, files: &[(&str, &str)]) -> Option<Memory> {
        let root = std::env::temp_dir().join(format!("gpusched-memory-{name}-{}", std::process::id()));
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("in a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        let memory = Memory::told_below(&root);
        fs::remove_dir_all(&root).expect("it was made above");
        memory
    }

    const MACHINE: [(&str, &str); 2] = [
        ("proc/meminfo", "MemTotal:       16000000 kB\nMemFree:  1 kB\nMemAvailable:    8000000 kB\n"),
        ("proc/self/status", "Name:\tx\nVmSize:\t  200000 kB\nVmRSS:\t  100000 kB\n"),
    ];

    #[test]
    fn a_machine_tells_what_it_has_free() {
        let memory = told("machine", &MACHINE);
        assert_eq!(memory, Some(Memory { held: 102_400_000, free: 8_192_000_000, addresses: u64::MAX }));
        assert_eq!(memory.map(|memory| memory.usual()), Some(6_144_000_000));
        assert_eq!(told("nothing", &MACHINE[..1]), None);
    }

    #[test]
    fn a_control_group_or_one_around_it_may_have_less() {
        let second = [
            ("proc/self/cgroup", "0::/jobs/one\n"),
            ("sys/fs/cgroup/jobs/one/memory.max", "max\n"),
            ("sys/fs/cgroup/jobs/one/memory.current", "1000\n"),
            ("sys/fs/cgroup/jobs/memory.max", "5000000\n"),
            ("sys/fs/cgroup/jobs/memory.current", "3000000\n"),
            ("sys/fs/cgroup/jobs/memory.stat", "anon 1\ninactive_file 1000000\nactive_file 7\n"),
        ];
        let free = |name, files: &[_]| told(name, &[&MACHINE, files].concat()).map(|memory| memory.free);
        assert_eq!(free("second", &second), Some(3_000_000));
        let first = [
            ("proc/self/cgroup", "5:cpu,cpuacct:/x\n4:memory:/x\n0::/\n"),
            ("sys/fs/cgroup/memory/x/memory.limit_in_bytes", "4000000\n"),
            ("sys/fs/cgroup/memory/x/memory.usage_in_bytes", "1500000\n"),
            ("sys/fs/cgroup/memory/x/memory.stat", "total_inactive_file 500000\n"),
        ];
        assert_eq!(free("first", &first), Some(3_000_000));
    }

    #[test]
    fn of_limited_addresses_half_may_be_taken() {
        let limits =
            [("proc/self/limits", "Limit   Soft  Hard  Units\nMax address space  1204800000  unlimited  bytes\n")];
        let memory = told("addresses", &[&MACHINE[..], &limits].concat()).expect("all is told");
        assert_eq!((memory.addresses, memory.usual()), (1_000_000_000, 500_000_000));
        let allowance = Allowance { most: 300_000_000, began: memory };
        let exceeds =
            |held, addresses| allowance.is_exceeded_by(&Memory { held: memory.held + held, addresses, ..memory });
        assert!(!exceeds(300_000_000, 500_000_000));
        assert!(exceeds(300_000_001, 500_000_000));
        assert!(exceeds(0, 499_999_999));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_machine_tells_too() {
        let memory = Memory::now().expect("Linux tells");
        assert!(memory.held > 1 << 20 && memory.free > 1 << 20);
        assert!(!Allowance::new(None).expect("Linux tells").is_exceeded());
    }
}

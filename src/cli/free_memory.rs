//! How much memory this machine has free: its own, and that of the control groups (containers, batch jobs) around this
//! process. Only Linux tells.

use std::fs;
use std::path::{Path, PathBuf};

/// Memory that a process may still take \[bytes\]; `None` where the system does not tell.
pub(crate) fn of_this_machine() -> Option<u64> {
    [below(Path::new("/")), of_this_process()].into_iter().flatten().min()
}

/// What `ulimit -v` leaves.
#[cfg(unix)]
fn of_this_process() -> Option<u64> {
    use nix::sys::resource::{RLIM_INFINITY, Resource, getrlimit};

    let (limit, _) = getrlimit(Resource::RLIMIT_AS).ok()?;
    (limit != RLIM_INFINITY).then_some(limit)
}

#[cfg(not(unix))]
fn of_this_process() -> Option<u64> {
    None
}

/// The same by the files below `root`.
fn below(root: &Path) -> Option<u64> {
    let machine = fs::read_to_string(root.join("proc/meminfo")).ok()?;
    let machine = value_of(&machine, "MemAvailable:")? << 10;
    let groups = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    // number:controllers:path; version 2 names no controller.
    let groups = groups.lines().filter_map(|line| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        let group = |folder: &str, files| Some(of_groups(&root.join("sys/fs/cgroup").join(folder), path, files));
        match controllers {
            "" => group("", &["memory.max", "memory.current", "inactive_file"]),
            _ if controllers.split(',').any(|name| name == "memory") => {
                group("memory", &["memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"])
            }
            _ => None,
        }
    });
    groups.flatten().chain([machine]).min()
}

/// What the group at `path` below `top` and those around it leave. In a container, the path may be one of the machine
/// outside, and the group the top.
fn of_groups(top: &Path, path: &str, [limit, usage, inactive]: &[&str; 3]) -> Option<u64> {
    let own: PathBuf = top.join(path.trim_start_matches('/'));
    let free = |group: &Path| {
        let number = |file: &str| fs::read_to_string(group.join(file)).ok()?.trim().parse::<u64>().ok();
        // Of files that were read, what nobody looks at now is given back.
        let given_back = fs::read_to_string(group.join("memory.stat")).ok();
        let given_back = given_back.and_then(|stat| value_of(&stat, inactive)).unwrap_or(0);
        Some(number(limit)?.saturating_sub(number(usage)?.saturating_sub(given_back)))
    };
    own.ancestors().take_while(|group| group.starts_with(top)).filter_map(free).min()
}

/// The number behind a name that stands at the beginning of a line.
fn value_of(text: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().map(str::split_whitespace);
    lines.find_map(|mut words| (words.next() == Some(name)).then(|| words.next()?.parse().ok())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine that has 8 GiB free, with these files.
    fn machine(name: &str, files: &[(&str, &str)]) -> PathBuf {
        let root = std::env::temp_dir().join(format!("gpusched-free-memory-{}-{name}", std::process::id()));
        let meminfo = ("proc/meminfo", "MemTotal: 16777216 kB\nMemFree: 1 kB\nMemAvailable:    8388608 kB\n");
        for (file, text) in files.iter().chain([&meminfo]) {
            let file = root.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        root
    }

    fn free(name: &str, files: &[(&str, &str)]) -> Option<u64> {
        let root = machine(name, files);
        let free = below(&root);
        fs::remove_dir_all(root).unwrap();
        free
    }

    #[test]
    fn a_machine_without_groups_has_what_is_available() {
        assert_eq!(free("plain", &[]), Some(8 << 30));
        assert_eq!(below(Path::new("/nowhere")), None);
    }

    #[test]
    fn of_the_groups_around_a_process_the_tightest_counts() {
        let of_version_2 = [
            ("proc/self/cgroup", "0::/jobs/mine\n"),
            ("sys/fs/cgroup/jobs/mine/memory.max", "max\n"),
            ("sys/fs/cgroup/jobs/mine/memory.current", "1000\n"),
            ("sys/fs/cgroup/jobs/memory.max", "5000\n"),
            ("sys/fs/cgroup/jobs/memory.current", "3000\n"),
            ("sys/fs/cgroup/jobs/memory.stat", "anon 1\ninactive_file 500\n"),
        ];
        assert_eq!(free("two", &of_version_2), Some(2500));
        let of_version_1 = [
            ("proc/self/cgroup", "5:cpu,cpuacct:/x\n4:memory:/docker/abc\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "7000\n"),
            ("sys/fs/cgroup/memory/memory.usage_in_bytes", "4000\n"),
            ("sys/fs/cgroup/memory/memory.stat", "inactive_file 1\ntotal_inactive_file 100\n"),
        ];
        assert_eq!(free("one", &of_version_1), Some(3100), "the path is that outside the container");
    }
}

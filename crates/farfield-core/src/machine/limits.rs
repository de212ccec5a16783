//! Memory limits of the process (`ulimit -v`, `ulimit -d`) and of its control groups (containers, Slurm), of either
//! version.
//!
//! The limits are read once; the usage is read at every call.

use super::kibibytes;
use std::fs::read_to_string;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The number of bytes that this process may still allocate under all limits that are set.
pub fn left() -> Option<u64> {
    static LIMITS: OnceLock<Limits> = OnceLock::new();
    LIMITS.get_or_init(Limits::find).left()
}

/// The limits that are set.
#[derive(Debug, Default, PartialEq)]
struct Limits {
    address_space: Option<u64>,
    data: Option<u64>,
    groups: Vec<Group>,
}

/// A control group with a limit.
#[derive(Debug, PartialEq)]
struct Group {
    limit: u64,
    usage: PathBuf,
    statistics: PathBuf,
    /// The key in the statistics for cached files that were not used recently, which the system can reclaim.
    reclaimable: &'static str,
}

impl Limits {
    fn find() -> Self {
        let own = read_to_string("/proc/self/limits").unwrap_or_default();
        let groups = read_to_string("/proc/self/cgroup").unwrap_or_default();
        Self {
            address_space: process_limit(&own, "Max address space"),
            data: process_limit(&own, "Max data size"),
            groups: find_groups(&groups, Path::new("/sys/fs/cgroup")),
        }
    }

    fn left(&self) -> Option<u64> {
        let status = match (self.address_space, self.data) {
            (None, None) => String::new(),
            _ => read_to_string("/proc/self/status").unwrap_or_default(),
        };
        let below = |limit: Option<u64>, used: &str| Some(limit?.saturating_sub(kibibytes(&status, used)?));
        let process = [below(self.address_space, "VmSize:"), below(self.data, "VmData:")];
        let groups = self.groups.iter().filter_map(Group::left);
        process.into_iter().flatten().chain(groups).min()
    }
}

impl Group {
    fn left(&self) -> Option<u64> {
        let used: u64 = read_to_string(&self.usage).ok()?.trim().parse().ok()?;
        let statistics = read_to_string(&self.statistics).unwrap_or_default();
        let reclaimable = statistics
            .lines()
            .find_map(|line| line.strip_prefix(self.reclaimable)?.trim().parse::<u64>().ok());
        Some(self.limit.saturating_sub(used.saturating_sub(reclaimable.unwrap_or(0))))
    }
}

/// The soft limit called `name` in `text`, the content of `/proc/self/limits`.
fn process_limit(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// The groups with a limit in `text`, the content of `/proc/self/cgroup`, and their parent groups with a limit.
fn find_groups(text: &str, mount: &Path) -> Vec<Group> {
    let mut groups = Vec::new();
    for line in text.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else {
            continue;
        };
        let path = path.trim_start_matches('/');
        if controllers.is_empty() {
            let files = ["memory.max", "memory.current", "memory.stat"];
            add_groups(&mut groups, mount, path, files, "inactive_file ");
        } else if controllers.split(',').any(|name| name == "memory") {
            let files = ["memory.limit_in_bytes", "memory.usage_in_bytes", "memory.stat"];
            add_groups(&mut groups, &mount.join("memory"), path, files, "total_inactive_file ");
        }
    }
    groups
}

/// Adds a group and its parents up to the mount, if they have a limit. In a container the path may be that of the
/// host: the mount itself is then the group.
fn add_groups(
    groups: &mut Vec<Group>,
    mount: &Path,
    path: &str,
    [limit, usage, statistics]: [&str; 3],
    reclaimable: &'static str,
) {
    let own = mount.join(path);
    for folder in own.ancestors().take_while(|folder| folder.starts_with(mount)) {
        let read = read_to_string(folder.join(limit)).ok();
        // "max" or a number beyond any memory means that there is no limit.
        let limit = read.and_then(|text| text.trim().parse::<u64>().ok());
        if let Some(limit) = limit.filter(|limit| *limit < 1 << 60) {
            groups.push(Group {
                limit,
                usage: folder.join(usage),
                statistics: folder.join(statistics),
                reclaimable,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROCESS: &str = "\
Limit                     Soft Limit           Hard Limit           Units
Max cpu time              unlimited            unlimited            seconds
Max data size             unlimited            unlimited            bytes
Max address space         4294967296           8589934592           bytes
";

    #[test]
    fn the_soft_limit_of_the_process_counts() {
        assert_eq!(process_limit(PROCESS, "Max address space"), Some(4 << 30));
        assert_eq!(process_limit(PROCESS, "Max data size"), None);
        assert_eq!(process_limit("", "Max data size"), None);
        let limited = Limits {
            address_space: Some(1 << 46),
            ..Limits::default()
        };
        assert!(limited.left().is_some_and(|left| left < 1 << 46));
        assert_eq!(Limits::default().left(), None);
    }

    /// Writes the files of a group.
    fn group(folder: &Path, files: &[(&str, &str)]) {
        std::fs::create_dir_all(folder).unwrap();
        for (name, text) in files {
            std::fs::write(folder.join(name), text).unwrap();
        }
    }

    #[test]
    fn the_tightest_group_above_the_process_counts() {
        let root = std::env::temp_dir().join(format!("farfield-groups-{}", std::process::id()));
        let job = root.join("slurm/job_7");
        group(
            &root.join("slurm"),
            &[("memory.max", "1000000\n"), ("memory.current", "600000\n")],
        );
        group(
            &job,
            &[
                ("memory.max", "max\n"),
                ("memory.current", "500000\n"),
                ("memory.stat", "anon 7\ninactive_file 100000\n"),
            ],
        );
        let groups = find_groups("0::/slurm/job_7\n", &root);
        assert_eq!(groups.len(), 1, "a group without a limit does not count");
        assert_eq!(groups[0].left(), Some(400_000));
        std::fs::write(job.join("memory.max"), "700000\n").unwrap();
        let groups = find_groups("0::/slurm/job_7\n", &root);
        let limits = Limits {
            groups,
            ..Limits::default()
        };
        // 700000 - (500000 - 100000 reclaimable)
        assert_eq!(limits.left(), Some(300_000));
        // Version 1 in a container, where the path is the host's.
        group(
            &root.join("memory"),
            &[
                ("memory.limit_in_bytes", "5000\n"),
                ("memory.usage_in_bytes", "3000\n"),
                ("memory.stat", "total_inactive_file 500\n"),
            ],
        );
        let groups = find_groups("4:cpu:/\n3:memory:/docker/77\n", &root);
        assert_eq!(groups.iter().map(Group::left).collect::<Vec<_>>(), [Some(2500)]);
        std::fs::remove_dir_all(&root).unwrap();
    }
}

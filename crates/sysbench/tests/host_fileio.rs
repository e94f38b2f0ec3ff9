//! `fileio`, run for real in folders of its own.

mod harness;

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use harness::{Outcome, pattern, sysbench_in};
use plimsoll_sysbench::exit::Exit;
use plimsoll_sysbench::host::fileio::FileIo;
use plimsoll_sysbench::options::help;
use plimsoll_sysbench::test::Test;

const SMALL: [&str; 2] = ["file-num=4", "file-total-size=1M"];
const MODES: [&str; 6] = ["seqwr", "seqrewr", "seqrd", "rndrd", "rndwr", "rndrw"];

/// A folder that is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("plimsoll-fileio-{name}-{}", std::process::id()));
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn file(&self, number: u32) -> PathBuf {
        self.0.join(format!("test_file.{number}"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn fileio(folder: &Path, command: &str, given: &[&str]) -> Outcome {
    let test = Box::new(FileIo::in_folder(folder.to_owned()));
    harness::command(test, command, given)
}

fn done(folder: &Folder, command: &str, given: &[&str]) -> Outcome {
    let outcome = fileio(&folder.0, command, given);
    assert_eq!(outcome.result, Ok(()), "{command} {given:?}: {}", outcome.text);
    outcome
}

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&SMALL, more].concat()
}

#[test]
fn files_are_made_reused_extended_and_removed() {
    let folder = Folder::new("prepare");
    let made = done(&folder, "prepare", &["file-num=2", "file-total-size=100K"]);
    assert!(
        pattern(&made.text).starts_with(
            "N files, NKb each, NMb total\nCreating files for the test...\nExtra file open flags: (none)\nCreating file \
             test_file.N\nCreating file test_file.N\nN bytes written in N seconds (N MiB/sec)"
        ),
        "{}",
        made.text
    );
    let length = |number| fs::metadata(folder.file(number)).unwrap().len();
    assert_eq!((length(0), length(1)), (65_536, 65_536), "whole blocks");
    let reused = done(&folder, "prepare", &["file-num=2", "file-total-size=100K"]);
    assert!(
        reused
            .text
            .ends_with("Reusing existing file test_file.1\nNo bytes written.\n"),
        "{}",
        reused.text
    );
    let extended = done(&folder, "prepare", &["file-num=2", "file-total-size=256K"]);
    assert!(
        extended
            .text
            .contains("Extending existing file test_file.1\n131072 bytes written"),
        "{}",
        extended.text
    );
    fs::write(folder.0.join("test_file.2"), "not of the two").unwrap();
    fs::write(folder.0.join("test_file"), "another's").unwrap();
    assert_eq!(
        done(&folder, "cleanup", &["file-num=2"]).text,
        "Removing test files...\n"
    );
    assert_eq!(folder.names(), ["test_file", "test_file.2"]);
}

#[test]
fn what_is_no_regular_file_is_left_alone() {
    let folder = Folder::new("irregular");
    let outside = folder.0.join("outside");
    fs::write(&outside, "precious").unwrap();
    std::os::unix::fs::symlink(&outside, folder.file(0)).unwrap();
    for (command, given) in [
        ("prepare", SMALL.to_vec()),
        ("cleanup", SMALL.to_vec()),
        ("run", with(&["file-test-mode=seqwr"])),
    ] {
        let outcome = fileio(&folder.0, command, &given);
        assert_eq!(outcome.result, Err(Exit::FAILED), "{command}");
        assert!(
            outcome.text.contains("file 'test_file.0' it is no regular file"),
            "{}",
            outcome.text
        );
    }
    assert_eq!(fs::read(&outside).unwrap(), b"precious");
    assert_eq!(folder.names(), ["outside", "test_file.0"]);
}

#[test]
fn every_mode_runs_in_every_way_and_counts_exactly() {
    for io_mode in ["sync", "async", "mmap"] {
        let folder = Folder::new(io_mode);
        let way = format!("file-io-mode={io_mode}");
        done(&folder, "prepare", &with(&["validate=on"]));
        for mode in MODES {
            for more in [
                &["threads=3"][..],
                &["threads=3", "validate=on"],
                &["file-merged-requests=3", "threads=2"],
                &["file-fsync-all=on", "file-fsync-mode=fdatasync"],
                &["file-extra-flags=sync,dsync"],
                &["file-async-backlog=2", "file-fsync-freq=0", "file-fsync-end=off"],
            ] {
                let test_mode = format!("file-test-mode={mode}");
                let given = [&with(&[&test_mode, &way, "events=250"]), more].concat();
                if mode == "seqwr" || !more.contains(&"validate=on") {
                    done(&folder, "prepare", &SMALL);
                } else {
                    done(&folder, "cleanup", &SMALL);
                    done(&folder, "prepare", &with(&["validate=on"]));
                }
                let stat = done(&folder, "run", &given).stat;
                assert_eq!(stat.events, 250, "{given:?}");
                let is_read = mode.ends_with("rd");
                let is_sync_counted = stat.reads + stat.writes + stat.other;
                let all_syncs = if more.contains(&"file-fsync-all=on") {
                    stat.writes
                } else {
                    0
                };
                assert_eq!(is_sync_counted, 250 + all_syncs, "{given:?}");
                assert_eq!((stat.writes + stat.other == 0, stat.reads == 250), (is_read, is_read));
            }
        }
        assert_eq!(folder.names().len(), 4);
    }
}

#[test]
fn random_reads_and_writes_keep_their_ratio_and_files_are_synchronised_in_turn() {
    let folder = Folder::new("ratio");
    done(&folder, "prepare", &SMALL);
    let stat = done(&folder, "run", &with(&["file-test-mode=rndrw", "events=1040"])).stat;
    assert_eq!((stat.reads, stat.writes, stat.other), (600, 400, 40));
}

#[test]
fn direct_requests_have_aligned_buffers() {
    let folder = Folder(tempfile_on_disk());
    let direct = "file-extra-flags=direct";
    if fileio(&folder.0, "prepare", &with(&[direct])).result.is_err() {
        eprintln!("skipped: no direct access to files here");
        return;
    }
    for way in ["file-io-mode=sync", "file-io-mode=async", "file-io-mode=mmap"] {
        for mode in ["file-test-mode=rndrw", "file-test-mode=seqwr"] {
            let outcome = done(&folder, "run", &with(&[direct, way, mode, "events=200"]));
            assert!(
                outcome.text.starts_with("Extra file open flags: directio \n"),
                "{}",
                outcome.text
            );
        }
    }
    let odd = fileio(&folder.0, "prepare", &with(&[direct, "file-block-size=1000"]));
    assert!(odd.text.contains("a multiple of 512"), "{}", odd.text);
}

/// Memory file systems know no direct access: beside the build.
fn tempfile_on_disk() -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fileio-direct-{}", std::process::id()));
    fs::create_dir(&path).unwrap();
    path
}

#[test]
fn a_corrupted_block_is_found() {
    for way in ["file-io-mode=sync", "file-io-mode=async", "file-io-mode=mmap"] {
        let folder = Folder::new(&way.replace('=', "-"));
        let given = with(&["validate=on", "file-test-mode=seqrd", "events=64", way]);
        done(&folder, "prepare", &given);
        let whole = done(&folder, "run", &given);
        assert!(whole.text.contains("Using checksums validation.\n"));
        let file = fs::OpenOptions::new().write(true).open(folder.file(2)).unwrap();
        file.write_all_at(b"x", 16_384 + 5_000).unwrap();
        let outcome = fileio(&folder.0, "run", &given);
        assert_eq!(outcome.result, Err(Exit::FAILED));
        for line in [
            "FATAL: Checksum mismatch in block with offset: 16384\n",
            "FATAL:     Calculated value: 0x",
            "FATAL: Validation failed on file 2, block offset 16384, exiting...\n",
        ] {
            assert!(outcome.text.contains(line), "{}", outcome.text);
        }
        fs::copy(folder.file(1), folder.file(2)).unwrap();
        let swapped = fileio(&folder.0, "run", &given);
        let line = "FATAL:     It was written for file 1, offset 0\n";
        assert!(swapped.text.contains(line), "{}", swapped.text);
    }
}

#[test]
fn missing_and_short_files_are_told() {
    let folder = Folder::new("missing");
    let run = |given: &[&str]| fileio(&folder.0, "run", &with(given));
    let missing = run(&["file-test-mode=rndrd"]);
    assert_eq!(missing.result, Err(Exit::FAILED));
    assert_eq!(
        missing.text,
        "FATAL: Cannot open file 'test_file.0' errno = 2 (No such file or directory)\nWARNING: Did you forget to run the \
         prepare step?\n"
    );
    done(&folder, "prepare", &SMALL);
    let short = fileio(
        &folder.0,
        "run",
        &["file-num=4", "file-total-size=32M", "file-test-mode=rndrd"],
    );
    assert_eq!(
        short.text,
        "FATAL: Size of file 'test_file.0' is 256KiB, but at least 8MiB is expected.\nWARNING: Did you run 'prepare' with \
         different --file-total-size or --file-num values?\n"
    );
    let no_mode = run(&[]);
    assert_eq!(no_mode.result, Err(Exit::FAILED));
    let table = help::table(&FileIo::default().options());
    assert_eq!(
        no_mode.text,
        format!("FATAL: Missing required argument: --file-test-mode\n\nfileio options:\n{table}\n")
    );
}

/// A memory file system of 512 KiB, as root.
struct SmallDisk(Folder);

impl SmallDisk {
    fn mount() -> Option<Self> {
        let disk = Folder::new("full");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=512k", "plimsoll"]).arg(&disk.0);
        let is_mounted = mount.output().is_ok_and(|output| output.status.success());
        is_mounted.then_some(Self(disk))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Workers of a run that failed may still have its files open: it goes when they have ended.
        let _ = Command::new("umount").arg("--lazy").arg(&self.0.0).status();
    }
}

#[test]
fn a_full_disk_ends_it_with_its_reason() {
    let Some(disk) = SmallDisk::mount() else {
        eprintln!("skipped: a full disk needs the right to mount");
        return;
    };
    let full = "errno = 28 (No space left on device)\n";
    let refused = |command: &str, given: &[&str], what: &str| {
        let outcome = fileio(&disk.0.0, command, given);
        assert_eq!(outcome.result, Err(Exit::FAILED), "{command} {given:?}");
        assert!(outcome.text.contains(what), "{}", outcome.text);
        assert!(outcome.text.contains(full), "{}", outcome.text);
    };
    refused("prepare", &SMALL, "FATAL: Failed to write file 'test_file.");
    for (way, what) in [
        ("file-io-mode=sync", "FATAL: Failed to write file! file: "),
        ("file-io-mode=async", "FATAL: Failed to write file! file: "),
        ("file-io-mode=mmap", "FATAL: Failed to allocate file 'test_file."),
    ] {
        for more in ["validate=off", "validate=on"] {
            refused("run", &with(&["file-test-mode=seqwr", "threads=3", way, more]), what);
        }
    }
}

#[test]
fn values_that_make_no_sense_are_refused() {
    let folder = Folder::new("values");
    for (given, message) in [
        ("file-test-mode=bla", "Invalid IO operations mode: bla."),
        ("file-io-mode=bla", "unknown I/O mode: bla"),
        ("file-extra-flags=sync,bla", "Invalid value for file-extra-flags: bla"),
        ("file-fsync-mode=bla", "Invalid fsync mode: bla."),
        ("file-block-size=0", "Invalid value for file-block-size: 0."),
        ("file-num=0", "Invalid value for file-num: 0"),
        ("file-total-size=0", "Invalid value for file-total-size: 0"),
        ("file-rw-ratio=-1", "Invalid value for --file-rw-ratio: -1.000000."),
        ("file-merged-requests=-1", "Invalid value for file-merged-requests: -1."),
        ("file-fsync-freq=-1", "Invalid value for file-fsync-freq: -1."),
        (
            "file-io-mode=async file-async-backlog=0",
            "Invalid value for file-async-backlog: 0.",
        ),
    ] {
        let given: Vec<&str> = given.split(' ').collect();
        let outcome = fileio(&folder.0, "run", &given);
        assert_eq!(
            (outcome.result, outcome.text),
            (Err(Exit::FAILED), format!("FATAL: {message}\n"))
        );
    }
    assert!(folder.names().is_empty());
}

/// Line by line, in the manner of 1.0, which is what is installed.
#[test]
fn the_installed_sysbench_prints_the_same() {
    let folder = Folder::new("sysbench");
    for mode in MODES {
        for more in [
            &["file-io-mode=sync"][..],
            &["file-fsync-all=on", "file-io-mode=mmap"],
            &["file-merged-requests=3", "file-io-mode=async", "file-fsync-end=off"],
            &["file-extra-flags=dsync", "file-fsync-freq=0", "file-block-size=1024"],
        ] {
            done(&folder, "prepare", &SMALL);
            let test_mode = format!("file-test-mode={mode}");
            let given = [&with(&[&test_mode, "events=64"]), more].concat();
            let ours = pattern(&done(&folder, "run", &given).text);
            done(&folder, "prepare", &SMALL);
            let Some(theirs) = sysbench_in(&folder.0, "fileio", &given) else {
                return;
            };
            assert_eq!(ours, theirs, "{given:?}");
        }
    }
}

//! Which file has which number: numbers are what the kernel speaks of, paths are what the device has.
//!
//! A file that was removed while it is open keeps its number and loses its path. Deliberately not here: content.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::handles::OpenFile;

/// The number of the directory that the file system is mounted over.
pub const ROOT: u64 = 1;

#[derive(Debug)]
struct Node {
    path: Option<PathBuf>,
    lookups: u64,
    file: Option<Arc<OpenFile>>,
}

/// Numbers and paths of all files that the kernel knows, or of which something is only in memory.
#[derive(Debug)]
pub struct Tree {
    nodes: HashMap<u64, Node>,
    numbers: HashMap<PathBuf, u64>,
    next: u64,
}

impl Tree {
    /// Only the root is known.
    pub fn new() -> Self {
        let root = Node {
            path: Some(PathBuf::from(".")),
            lookups: 1,
            file: None,
        };
        Self {
            nodes: HashMap::from([(ROOT, root)]),
            numbers: HashMap::from([(PathBuf::from("."), ROOT)]),
            next: ROOT + 1,
        }
    }

    /// Where a file is, relative to the root; `None` for one that was removed, or that is not known.
    pub fn path(&self, number: u64) -> Option<&Path> {
        self.nodes.get(&number)?.path.as_deref()
    }

    /// Where an entry of a directory is.
    pub fn child(&self, parent: u64, name: &OsStr) -> Option<PathBuf> {
        Some(self.path(parent)?.join(name))
    }

    /// The number of a path, with one more that the kernel will forget later.
    pub fn look_up(&mut self, path: PathBuf) -> u64 {
        let number = *self.numbers.entry(path.clone()).or_insert_with(|| {
            self.next += 1;
            self.next
        });
        let node = self.nodes.entry(number).or_insert_with(|| Node {
            path: Some(path),
            lookups: 0,
            file: None,
        });
        node.lookups += 1;
        number
    }

    /// The file of a path that is open, or has something in memory.
    pub fn file_at(&self, path: &Path) -> Option<Arc<OpenFile>> {
        self.file(*self.numbers.get(path)?)
    }

    /// The file of a number that is open, or has something in memory.
    pub fn file(&self, number: u64) -> Option<Arc<OpenFile>> {
        self.nodes.get(&number)?.file.clone()
    }

    /// Gives a number its open file.
    pub fn set_file(&mut self, number: u64, file: Arc<OpenFile>) {
        if let Some(node) = self.nodes.get_mut(&number) {
            node.file = Some(file);
        }
    }

    /// All open files.
    pub fn files(&self) -> Vec<Arc<OpenFile>> {
        self.nodes.values().filter_map(|node| node.file.clone()).collect()
    }

    /// The kernel forgets a number so many times. A file with something in memory stays.
    pub fn forget(&mut self, number: u64, count: u64) {
        let Some(node) = self.nodes.get_mut(&number) else {
            return;
        };
        node.lookups = node.lookups.saturating_sub(count);
        let is_kept = node.path.is_some() && node.file.as_ref().is_some_and(|file| file.has_unflushed());
        if node.lookups > 0 || is_kept || number == ROOT {
            return;
        }
        if let Some(path) = self.nodes.remove(&number).and_then(|node| node.path) {
            self.numbers.remove(&path);
        }
    }

    /// A path is no longer there.
    pub fn remove(&mut self, path: &Path) {
        if let Some(number) = self.numbers.remove(path) {
            if let Some(node) = self.nodes.get_mut(&number) {
                node.path = None;
                if node.lookups == 0 {
                    self.nodes.remove(&number);
                }
            }
        }
    }

    /// A path, and what is below it, is at another one now, in place of what was there.
    pub fn rename(&mut self, from: &Path, to: &Path) {
        self.remove(to);
        let moved: Vec<PathBuf> = self
            .numbers
            .keys()
            .filter(|path| path.starts_with(from))
            .cloned()
            .collect();
        for old in moved {
            let below = old.strip_prefix(from).expect("it begins so");
            let new = if below.as_os_str().is_empty() {
                to.to_owned()
            } else {
                to.join(below)
            };
            let number = self.numbers.remove(&old).expect("it was just found");
            if let Some(node) = self.nodes.get_mut(&number) {
                node.path = Some(new.clone());
            }
            self.numbers.insert(new, number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_renamed_directory_takes_what_is_in_it_along() {
        let mut tree = Tree::new();
        let folder = tree.look_up(PathBuf::from("./a"));
        let file = tree.look_up(PathBuf::from("./a/x"));
        let other = tree.look_up(PathBuf::from("./ab"));
        tree.rename(Path::new("./a"), Path::new("./b"));
        assert_eq!(tree.path(folder), Some(Path::new("./b")));
        assert_eq!(tree.path(file), Some(Path::new("./b/x")));
        assert_eq!(tree.path(other), Some(Path::new("./ab")));
        assert_eq!(tree.look_up(PathBuf::from("./b/x")), file);
    }

    #[test]
    fn a_removed_file_keeps_its_number_until_it_is_forgotten() {
        let mut tree = Tree::new();
        let old = tree.look_up(PathBuf::from("./x"));
        tree.remove(Path::new("./x"));
        let new = tree.look_up(PathBuf::from("./x"));
        assert_ne!(old, new);
        assert_eq!(tree.path(old), None);
        tree.forget(old, 1);
        tree.forget(new, 1);
        assert_eq!(tree.nodes.len(), 1);
        assert_eq!(tree.numbers.len(), 1);
    }
}

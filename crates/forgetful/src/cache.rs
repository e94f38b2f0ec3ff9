//! What was written to one file and not flushed, block by block, over what the device holds of it.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Bytes of a block: what a device writes as a whole.
pub const BLOCK: usize = 4096;

type Block = Box<[u8; BLOCK]>;

/// The part of one file that is in memory only, and the size that its readers see.
#[derive(Debug)]
pub struct Cache {
    blocks: BTreeMap<u64, Block>,
    size: u64,
}

impl Cache {
    /// Nothing is in memory yet.
    ///
    /// # Errors
    /// When the size of the file is not to be had.
    pub fn new(device: &File) -> io::Result<Self> {
        Ok(Self {
            blocks: BTreeMap::new(),
            size: device.metadata()?.len(),
        })
    }

    /// Size that readers see, bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// How many blocks are in memory.
    pub fn count(&self) -> u64 {
        self.blocks.len() as u64
    }

    /// Reads up to `into.len()` bytes; returns how many there were before the end.
    ///
    /// # Errors
    /// When the device cannot be read.
    pub fn read(&self, device: &File, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        let length = self.size.saturating_sub(offset).min(into.len() as u64) as usize;
        let into = &mut into[..length];
        let held = read_padded(device, offset, into)?;
        debug_assert!(held <= length);
        for (number, from, range) in pieces(offset, length) {
            if let Some(block) = self.blocks.get(&number) {
                let bytes = range.len();
                into[range].copy_from_slice(&block[from..from + bytes]);
            }
        }
        Ok(length)
    }

    /// Takes what is written into memory, and returns the numbers of the blocks that it touched.
    ///
    /// # Errors
    /// When the rest of a block cannot be read from the device.
    pub fn write(&mut self, device: &File, offset: u64, data: &[u8]) -> io::Result<Vec<u64>> {
        let mut touched = Vec::with_capacity(data.len() / BLOCK + 2);
        for (number, from, range) in pieces(offset, data.len()) {
            let bytes = range.len();
            let block = match self.blocks.entry(number) {
                Entry::Occupied(held) => held.into_mut(),
                Entry::Vacant(place) => {
                    let mut block: Block = Box::new([0; BLOCK]);
                    if bytes < BLOCK {
                        read_padded(device, number * BLOCK as u64, &mut block[..])?;
                    }
                    place.insert(block)
                }
            };
            block[from..from + bytes].copy_from_slice(&data[range]);
            touched.push(number);
        }
        self.size = self.size.max(offset + data.len() as u64);
        Ok(touched)
    }

    /// Stores one block on the device, if it is in memory. A file that ends in it is as long there as readers see it.
    ///
    /// # Errors
    /// When the device cannot be written.
    pub fn store(&mut self, device: &File, number: u64) -> io::Result<()> {
        if let Some(block) = self.blocks.get(&number) {
            let from = number * BLOCK as u64;
            let bytes = self.size.saturating_sub(from).min(BLOCK as u64) as usize;
            device.write_all_at(&block[..bytes], from)?;
            self.blocks.remove(&number);
        }
        Ok(())
    }

    /// Stores everything, so that the device holds what readers see.
    ///
    /// # Errors
    /// When the device cannot be written.
    pub fn store_all(&mut self, device: &File) -> io::Result<()> {
        while let Some(number) = self.blocks.keys().next().copied() {
            self.store(device, number)?;
        }
        if device.metadata()?.len() < self.size {
            device.set_len(self.size)?;
        }
        Ok(())
    }

    /// Sets the size, on the device at once.
    ///
    /// # Errors
    /// When the device refuses it.
    pub fn set_size(&mut self, device: &File, size: u64) -> io::Result<()> {
        device.set_len(size)?;
        self.blocks.split_off(&size.div_ceil(BLOCK as u64));
        let end = (size % BLOCK as u64) as usize;
        if end > 0 {
            if let Some(block) = self.blocks.get_mut(&(size / BLOCK as u64)) {
                block[end..].fill(0);
            }
        }
        self.size = size;
        Ok(())
    }

    /// The device was told to make a file longer.
    pub fn grow(&mut self, size: u64) {
        self.size = self.size.max(size);
    }
}

/// The blocks of a range: number, first byte within the block, and which bytes of the range they are.
fn pieces(offset: u64, length: usize) -> impl Iterator<Item = (u64, usize, std::ops::Range<usize>)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        if done == length {
            return None;
        }
        let at = offset + done as u64;
        let from = (at % BLOCK as u64) as usize;
        let bytes = (BLOCK - from).min(length - done);
        let range = done..done + bytes;
        done += bytes;
        Some((at / BLOCK as u64, from, range))
    })
}

/// Fills a buffer from the device; what is behind its end is zero. Returns how many bytes it had.
fn read_padded(device: &File, offset: u64, into: &mut [u8]) -> io::Result<usize> {
    let mut done = 0;
    while done < into.len() {
        match device.read_at(&mut into[done..], offset + done as u64) {
            Ok(0) => break,
            Ok(bytes) => done += bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    into[done..].fill(0);
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::OpenOptions;

    /// A file that is gone with the test.
    fn device(content: &[u8]) -> File {
        let path = std::env::temp_dir().join(format!(
            "plimsoll-cache-{}-{:?}",
            std::process::id(),
            std::thread::current().id()
        ));
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&path)
            .unwrap();
        std::fs::remove_file(path).unwrap();
        file.write_all_at(content, 0).unwrap();
        file
    }

    fn on_device(file: &File) -> Vec<u8> {
        let mut content = vec![0; file.metadata().unwrap().len() as usize];
        file.read_exact_at(&mut content, 0).unwrap();
        content
    }

    fn seen(cache: &Cache, file: &File) -> Vec<u8> {
        let mut content = vec![9; cache.size() as usize + 10];
        let length = cache.read(file, 0, &mut content).unwrap();
        content.truncate(length);
        content
    }

    #[test]
    fn what_is_written_is_seen_and_not_on_the_device_until_it_is_stored() {
        let file = device(b"before");
        let mut cache = Cache::new(&file).unwrap();
        cache.write(&file, 3, b"XYZ and more").unwrap();
        assert_eq!(seen(&cache, &file), b"befXYZ and more");
        assert_eq!(on_device(&file), b"before");
        cache.store_all(&file).unwrap();
        assert_eq!(on_device(&file), b"befXYZ and more");
        assert_eq!(cache.count(), 0);
    }

    #[test]
    fn a_hole_reads_as_zeros_and_blocks_can_be_stored_in_any_order() {
        let file = device(b"");
        let mut cache = Cache::new(&file).unwrap();
        let touched = cache.write(&file, BLOCK as u64 - 1, &[1, 2, 3]).unwrap();
        assert_eq!(touched, [0, 1]);
        cache.store(&file, 1).unwrap();
        let mut expected = vec![0; BLOCK + 2];
        expected[BLOCK..].copy_from_slice(&[2, 3]);
        assert_eq!(on_device(&file), expected, "the first block is only in memory");
        expected[BLOCK - 1] = 1;
        assert_eq!(seen(&cache, &file), expected);
    }

    #[test]
    fn a_shorter_file_forgets_what_was_behind_its_end() {
        let file = device(&[7; 3 * BLOCK]);
        let mut cache = Cache::new(&file).unwrap();
        cache.write(&file, 0, &[8; 3 * BLOCK]).unwrap();
        cache.set_size(&file, 10).unwrap();
        assert_eq!(seen(&cache, &file), [8; 10]);
        assert_eq!(
            on_device(&file),
            [7; 10],
            "its size is durable at once, its content is not"
        );
        cache.set_size(&file, 20).unwrap();
        let mut expected = vec![8; 10];
        expected.resize(20, 0);
        assert_eq!(seen(&cache, &file), expected);
    }

    #[test]
    fn any_writes_read_back_as_a_plain_file_does() {
        use plimsoll_core::random::{below, keyed};
        let mut random = keyed(5, 0, 0);
        let file = device(&[1; 5000]);
        let mut cache = Cache::new(&file).unwrap();
        let mut plain = vec![1; 5000];
        for step in 0..500u64 {
            let offset = below(&mut random, 6 * BLOCK as u64);
            match below(&mut random, 10) {
                0 => {
                    cache.set_size(&file, offset).unwrap();
                    plain.resize(offset as usize, 0);
                }
                1 => cache.store(&file, offset / BLOCK as u64).unwrap(),
                2 => cache.store_all(&file).unwrap(),
                _ => {
                    let data = vec![step as u8; below(&mut random, 3 * BLOCK as u64) as usize + 1];
                    cache.write(&file, offset, &data).unwrap();
                    let end = offset as usize + data.len();
                    plain.resize(plain.len().max(end), 0);
                    plain[offset as usize..end].copy_from_slice(&data);
                }
            }
            assert_eq!(seen(&cache, &file), plain, "step {step}");
        }
        cache.store_all(&file).unwrap();
        assert_eq!(on_device(&file), plain);
    }
}

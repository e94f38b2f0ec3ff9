//! Blocks that say what they are, for `--validate`: a checksum, where the block belongs, and chance for the rest.

use plimsoll_core::random::{Random, Rng};

/// Checksum (4 bytes), number of the file (4), offset in it (8): all little-endian. The checksum is a CRC-32 of what follows
/// it. So many bytes a block has at least.
pub const BLOCK_BYTES_MIN: u64 = 16;

/// What is wrong with a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    Checksum {
        calculated: u32,
        stored: u32,
    },
    /// It is whole, and another one's.
    Elsewhere {
        file: u32,
        offset: u64,
    },
}

/// Makes a block for an offset in a file.
pub(super) fn fill(block: &mut [u8], file: u32, offset: u64, random: &mut Random) {
    random.fill_bytes(block);
    block[4..8].copy_from_slice(&file.to_le_bytes());
    block[8..16].copy_from_slice(&offset.to_le_bytes());
    let sum = crc32fast::hash(&block[4..]);
    block[..4].copy_from_slice(&sum.to_le_bytes());
}

/// Whether a block is whole and belongs there.
pub(super) fn check(block: &[u8], file: u32, offset: u64) -> Result<(), Fault> {
    let word = |at: usize| u32::from_le_bytes(block[at..at + 4].try_into().expect("four bytes"));
    let (stored, calculated) = (word(0), crc32fast::hash(&block[4..]));
    if stored != calculated {
        return Err(Fault::Checksum { calculated, stored });
    }
    let said = (word(4), u64::from(word(12)) << 32 | u64::from(word(8)));
    if said == (file, offset) {
        Ok(())
    } else {
        Err(Fault::Elsewhere {
            file: said.0,
            offset: said.1,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plimsoll_core::random::keyed;

    #[test]
    fn a_block_knows_its_place_and_every_bit() {
        let mut block = [0; 512];
        fill(&mut block, 3, 5 << 32 | 512, &mut keyed(1, 0, 0));
        assert_eq!(check(&block, 3, 5 << 32 | 512), Ok(()));
        let elsewhere = Fault::Elsewhere {
            file: 3,
            offset: 5 << 32 | 512,
        };
        assert_eq!(check(&block, 2, 5 << 32 | 512), Err(elsewhere));
        for at in [0, 4, 15, 511] {
            let mut broken = block;
            broken[at] ^= 1;
            assert!(matches!(check(&broken, 3, 5 << 32 | 512), Err(Fault::Checksum { .. })));
        }
        assert!(check(&[0; 16], 0, 0).is_err(), "zeros are no block");
    }
}

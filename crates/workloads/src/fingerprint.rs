//! By what texts are known again.

/// FNV-1a with 64 bits (Fowler, Noll and Vo): the same in every version of this program, unlike the standard library's
/// hashes.
pub fn fnv1a(bytes: &[u8]) -> u64 {
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, mix)
}

//! Objects that Lua holds by pointer. What Lua sees of one (its face) never moves and is never given back before the state
//! closes, so that a stale pointer is at worst that of another object, and a wrong one is found out without a look behind
//! it.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A thing with a face.
pub trait Faced: Default {
    /// What Lua sees, laid out as C does.
    type Face: Default;

    /// Where it is.
    fn face(&self) -> *mut Self::Face;
}

/// Objects of one kind in one state.
pub struct Slab<T: Faced> {
    slots: Vec<Slot<T>>,
    indexes: HashMap<usize, usize, BuildHasherDefault<AddressHasher>>,
    free: Vec<usize>,
}

struct Slot<T> {
    value: T,
    /// Who holds it: Lua, and other objects. Free at 0.
    holders: u32,
}

impl<T: Faced> Default for Slab<T> {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            indexes: HashMap::default(),
            free: Vec::new(),
        }
    }
}

impl<T: Faced> Slab<T> {
    /// A new object, held once. Its face is one that was free, or a new one.
    pub fn add(&mut self) -> usize {
        let index = self.free.pop().unwrap_or_else(|| {
            let value = T::default();
            self.indexes.insert(value.face() as usize, self.slots.len());
            self.slots.push(Slot { value, holders: 0 });
            self.slots.len() - 1
        });
        self.slots[index].holders = 1;
        index
    }

    /// Where the object with this face is, if there is one.
    #[inline]
    pub fn find(&self, face: *const T::Face) -> Option<usize> {
        let index = *self.indexes.get(&(face as usize))?;
        (self.slots[index].holders > 0).then_some(index)
    }

    /// The object at an index.
    #[inline]
    pub fn at(&mut self, index: usize) -> &mut T {
        &mut self.slots[index].value
    }

    /// The same to look at.
    #[inline]
    pub fn get(&self, index: usize) -> &T {
        &self.slots[index].value
    }

    /// One more holds it.
    pub fn hold(&mut self, index: usize) {
        self.slots[index].holders += 1;
    }

    /// One holds it no more. Returns it when nobody does: its index is free, what it has should be given back.
    pub fn release(&mut self, index: usize) -> Option<&mut T> {
        let slot = &mut self.slots[index];
        slot.holders = slot.holders.saturating_sub(1);
        if slot.holders > 0 {
            return None;
        }
        self.free.push(index);
        Some(&mut slot.value)
    }
}

/// Spreads addresses.
#[derive(Default)]
struct AddressHasher(u64);

impl Hasher for AddressHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_usize(usize::from(*byte));
        }
    }

    #[inline]
    fn write_usize(&mut self, address: usize) {
        self.0 = (self.0 ^ address as u64 >> 4).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 ^= self.0 >> 32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lua::fixed::Fixed;

    #[derive(Default)]
    struct Thing(Fixed<u64>);

    impl Faced for Thing {
        type Face = u64;

        fn face(&self) -> *mut u64 {
            self.0.pointer()
        }
    }

    #[test]
    fn faces_are_found_until_nobody_holds_them_and_then_used_again() {
        let mut slab = Slab::<Thing>::default();
        let indexes: Vec<usize> = (0..100).map(|_| slab.add()).collect();
        let faces: Vec<*mut u64> = indexes.iter().map(|index| slab.at(*index).face()).collect();
        assert!(
            faces
                .iter()
                .zip(&indexes)
                .all(|(face, index)| slab.find(*face) == Some(*index))
        );
        assert_eq!((slab.find(std::ptr::null()), slab.find(&7)), (None, None));
        slab.hold(3);
        assert!(slab.release(3).is_none() && slab.find(faces[3]).is_some());
        assert!(slab.release(3).is_some() && slab.find(faces[3]).is_none());
        assert_eq!(slab.add(), 3);
        assert_eq!(slab.at(3).face(), faces[3]);
    }
}

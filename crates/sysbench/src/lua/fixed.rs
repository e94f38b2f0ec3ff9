//! What Lua reads and writes by pointer, at a place that it keeps.

use std::cell::UnsafeCell;

/// A face that stays where it is.
pub struct Fixed<F>(Box<UnsafeCell<F>>);

impl<F: Default> Default for Fixed<F> {
    fn default() -> Self {
        Self(Box::default())
    }
}

impl<F> Fixed<F> {
    /// Where it is.
    pub fn pointer(&self) -> *mut F {
        self.0.get()
    }

    /// Reads it.
    pub fn get(&self) -> F
    where
        F: Copy,
    {
        // SAFETY: the box owns it, and nobody holds a reference to its inside: Lua has its address, and this thread is here.
        unsafe { *self.0.get() }
    }

    /// Writes it.
    pub fn set(&self, face: F) {
        // SAFETY: as above.
        unsafe { *self.0.get() = face };
    }
}

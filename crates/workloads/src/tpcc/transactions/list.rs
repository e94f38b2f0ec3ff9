//! What a transaction collects, of which there are few and never more than a known number: kept on the stack.

use std::fmt;
use std::ops::{Deref, DerefMut};

/// Up to `N` items in order.
#[derive(Clone, Copy, Debug)]
pub struct List<T, const N: usize> {
    items: [T; N],
    length: usize,
}

/// Up to `N` bytes of text.
pub type Text<const N: usize> = List<u8, N>;

impl<T: Copy, const N: usize> List<T, N> {
    /// An empty one; `blank` stands where nothing is yet.
    pub fn new(blank: T) -> Self {
        Self {
            items: [blank; N],
            length: 0,
        }
    }

    /// How many more there is room for.
    pub fn room(&self) -> usize {
        N - self.length
    }

    /// Appends one.
    ///
    /// # Panics
    /// When there is no room; the same for all below.
    pub fn push(&mut self, item: T) {
        self.items[self.length] = item;
        self.length += 1;
    }

    /// Appends all of these.
    pub fn extend(&mut self, items: &[T]) {
        self.items[self.length..self.length + items.len()].copy_from_slice(items);
        self.length += items.len();
    }
}

impl<const N: usize> Text<N> {
    /// A text of a server, as far as there is room.
    pub fn of(text: &[u8]) -> Self {
        let mut own = Self::new(0);
        own.extend(&text[..text.len().min(N)]);
        own
    }
}

impl<T, const N: usize> Deref for List<T, N> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.items[..self.length]
    }
}

impl<T, const N: usize> DerefMut for List<T, N> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.items[..self.length]
    }
}

impl<const N: usize> fmt::Write for Text<N> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.extend(text.as_bytes());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write as _;

    #[test]
    fn it_holds_what_was_put_in() {
        let mut list = List::<u32, 4>::new(0);
        list.push(3);
        list.extend(&[1, 2]);
        list.sort_unstable();
        assert_eq!((&list[..], list.room()), (&[1, 2, 3][..], 1));
        let mut text = Text::<8>::of(b"123456789");
        assert_eq!((&text[..], text.room()), (&b"12345678"[..], 0));
        text = Text::of(b"a");
        write!(text, "{:03}", 7).unwrap();
        assert_eq!(&text[..], b"a007");
    }
}

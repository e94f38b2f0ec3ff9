//! The kernel's side of asynchronous I/O (`io_setup(2)` and its siblings), for which there is no wrapper in the libraries
//! that we use.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use super::super::super::buffer::Buffer;

/// Number of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot(pub(super) usize);

/// A request that ended.
pub(super) struct Done {
    pub(super) slot: Slot,
    /// How many bytes were moved.
    pub(super) result: io::Result<usize>,
}

/// Requests under way, each with a buffer of its own.
pub(super) struct Queue {
    context: libc::c_ulong,
    slots: Vec<(Control, Buffer)>,
    events: Vec<Event>,
    running_count: usize,
}

/// `struct iocb` of `linux/aio_abi.h`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Control {
    data: u64,
    /// Key and flags: two numbers whose order depends on the machine; both are 0.
    key_and_flags: u64,
    opcode: u16,
    priority: i16,
    descriptor: u32,
    buffer: u64,
    len: u64,
    offset: u64,
    reserved: u64,
    more_flags: u32,
    event_descriptor: u32,
}

/// `struct io_event`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Event {
    data: u64,
    control: u64,
    result: i64,
    second_result: i64,
}

const READ: u16 = 0;
const WRITE: u16 = 1;

impl Queue {
    /// A queue of so many slots, with buffers of so many bytes.
    pub(super) fn new(count: usize, buffer_bytes: usize) -> io::Result<Self> {
        let mut context: libc::c_ulong = 0;
        // SAFETY: the kernel writes one number to where it is told.
        checked(unsafe { libc::syscall(libc::SYS_io_setup, count, &raw mut context) })?;
        Ok(Self {
            context,
            slots: (0..count)
                .map(|_| (Control::default(), Buffer::new(buffer_bytes)))
                .collect(),
            events: vec![Event::default(); count],
            running_count: 0,
        })
    }

    /// Begins a request in a slot where none is under way.
    pub(super) fn submit(
        &mut self,
        Slot(slot): Slot,
        file: BorrowedFd<'_>,
        offset: u64,
        len: usize,
        is_read: bool,
    ) -> io::Result<()> {
        let (control, buffer) = &mut self.slots[slot];
        let bytes = &mut buffer.bytes_mut()[..len];
        *control = Control {
            data: slot as u64,
            opcode: if is_read { READ } else { WRITE },
            descriptor: file.as_raw_fd() as u32,
            buffer: bytes.as_mut_ptr().expose_provenance() as u64,
            len: len as u64,
            offset,
            ..Control::default()
        };
        let mut list: [*mut Control; 1] = [control];
        // SAFETY: the list has one control block, which is filled in; its buffer belongs to this slot, is so long, and stays
        // where it is until the request ended: a slot is used again after that, and dropping the queue waits for it.
        checked(unsafe { libc::syscall(libc::SYS_io_submit, self.context, 1 as libc::c_long, list.as_mut_ptr()) })?;
        self.running_count += 1;
        Ok(())
    }

    /// Waits until at least one request ended, and takes all that did. Nothing may be asked for when none is under way.
    pub(super) fn wait(&mut self) -> io::Result<Vec<Done>> {
        assert!(self.running_count > 0, "nothing is under way");
        let (count, events) = (self.events.len(), self.events.as_mut_ptr());
        let no_limit: *const libc::timespec = std::ptr::null();
        let ended_count = loop {
            // SAFETY: there is room for `count` events, and no time limit.
            let ended = checked(unsafe {
                libc::syscall(
                    libc::SYS_io_getevents,
                    self.context,
                    1 as libc::c_long,
                    count,
                    events,
                    no_limit,
                )
            });
            match ended {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other? as usize,
            }
        };
        self.running_count -= ended_count;
        Ok(self.events[..ended_count].iter().map(Done::of).collect())
    }

    /// The buffer of a slot where nothing is under way.
    pub(super) fn bytes_mut(&mut self, Slot(slot): Slot) -> &mut [u8] {
        self.slots[slot].1.bytes_mut()
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // SAFETY: the context is this queue's own. The kernel cancels what it can and waits for the rest, so the buffers
        // are free when it returns.
        let _ = unsafe { libc::syscall(libc::SYS_io_destroy, self.context) };
    }
}

impl Done {
    fn of(event: &Event) -> Self {
        let result = usize::try_from(event.result);
        Self {
            slot: Slot(event.data as usize),
            result: result.map_err(|_| io::Error::from_raw_os_error(-event.result as i32)),
        }
    }
}

fn checked(result: libc::c_long) -> io::Result<libc::c_long> {
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_are_as_long_as_the_kernels() {
        assert_eq!((size_of::<Control>(), size_of::<Event>()), (64, 32));
    }
}

//! The content of a file. Each part is dropped as soon as it has been read.
//!
//! While rows are read, the history grows. To make room for it, the groups of rows that have been read are dropped.

use std::io::{self, BufRead, Chain, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use bytes::buf::{Buf, Reader};
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};

/// The size of a piece in bytes. The header of a page must not be longer than a piece.
const PIECE: usize = 1 << 20;

/// The content of a file, in pieces that can be dropped one by one.
#[derive(Clone)]
pub(super) struct Content {
    pieces: Arc<Mutex<Vec<Bytes>>>,
    length: u64,
}

impl Content {
    /// Reads a whole file, because the description of its columns is at its end.
    pub(super) fn read(input: &mut dyn BufRead) -> io::Result<Self> {
        let (mut pieces, mut length) = (Vec::new(), 0);
        loop {
            let mut piece = Vec::with_capacity(PIECE);
            (&mut *input).take(PIECE as u64).read_to_end(&mut piece)?;
            if piece.is_empty() {
                return Ok(Self { pieces: Arc::new(Mutex::new(pieces)), length });
            }
            length += piece.len() as u64;
            pieces.push(Bytes::from(piece));
        }
    }

    /// Drops the pieces before the one that contains the position `end`. They must not be read again.
    pub(super) fn forget(&self, end: u64) {
        let count = usize::try_from(end).unwrap_or(usize::MAX) / PIECE;
        self.pieces().iter_mut().take(count).for_each(|piece| *piece = Bytes::new());
    }

    fn pieces(&self) -> MutexGuard<'_, Vec<Bytes>> {
        self.pieces.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the rest of the piece that contains the position `start`, from this position on, and the next piece.
    fn at(&self, start: u64) -> Result<(Bytes, Bytes), ParquetError> {
        let index = usize::try_from(start / PIECE as u64)?;
        let offset = usize::try_from(start % PIECE as u64)?;
        let pieces = self.pieces();
        let piece = |index: usize| pieces.get(index).cloned().unwrap_or_default();
        let mut first = piece(index);
        if offset >= first.len() {
            return Err(ParquetError::EOF("a place outside of the file".to_owned()));
        }
        Ok((first.split_off(offset), piece(index + 1)))
    }
}

impl Length for Content {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for Content {
    type T = Chain<Reader<Bytes>, Reader<Bytes>>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        let (first, next) = self.at(start)?;
        Ok(first.reader().chain(next.reader()))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        if length == 0 {
            return Ok(Bytes::new());
        }
        let (mut piece, _) = self.at(start)?;
        if length <= piece.len() {
            return Ok(piece.split_to(length));
        }
        let mut bytes = Vec::new();
        while bytes.len() < length {
            let (piece, _) = self.at(start.saturating_add(bytes.len() as u64))?;
            bytes.extend_from_slice(&piece[..piece.len().min(length - bytes.len())]);
        }
        Ok(bytes.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_joined_and_dropped() {
        let bytes: Vec<u8> = (0..PIECE * 5 / 2).map(|at| (at / 1000 % 251) as u8).collect();
        let content = Content::read(&mut &*bytes).expect("reading from memory does not fail");
        assert_eq!(content.len(), bytes.len() as u64);
        let get = |start: usize, length: usize| content.get_bytes(start as u64, length);
        for (start, length) in [(0, 8), (5, PIECE), (PIECE - 1, PIECE + 2), (PIECE * 2, 0), (0, bytes.len())] {
            assert_eq!(get(start, length).expect("inside"), &bytes[start..start + length]);
        }
        let mut header = vec![0; PIECE];
        content.get_read(1000).and_then(|mut read| Ok(read.read_exact(&mut header)?)).expect("inside");
        assert_eq!(header, &bytes[1000..1000 + PIECE]);
        get(PIECE, bytes.len()).expect_err("behind the end");
        content.forget(PIECE as u64 + 7);
        get(PIECE - 1, 1).expect_err("forgotten");
        assert_eq!(get(PIECE, 9).expect("still needed"), &bytes[PIECE..PIECE + 9]);
    }
}

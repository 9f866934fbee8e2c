//! The inputs from which histories are read: files, directories and standard input, plain or
//! compressed.

use std::cell::{Cell, RefCell};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use flate2::bufread::MultiGzDecoder;
use indicatif::{HumanBytes, ProgressBar};
use ruzstd::decoding::StreamingDecoder;
use trueline::history::RawHistory;
use trueline::history::codec::{self, CodecError, Format, Mapping, Note, Source, Survey, Tuples};
use trueline::judge::CancelToken;
use trueline::registry::{NamedError, NamedSpec, Unjudged};
use trueline::verdict::LimitKind;
use trueline::view::file;

use crate::args::{LimitArgs, ReadArgs};
use crate::limits::Limits;
use crate::{output, progress};

/// Size of the buffers for reading, in bytes.
const CHUNK: usize = 1 << 18;

/// The largest allowed mapping file, in bytes. Mappings written by people are a thousand times smaller.
const LARGEST_MAPPING: u64 = 1 << 20;

/// The limits for reading a file in order to detect whether it is a history.
const TO_LOOK: LimitArgs = LimitArgs { timeout: Some(Duration::from_secs(1)), memory: 64 << 20 };

/// An input, or the reason why a path cannot be used as one.
pub(crate) enum Input {
    Stdin,
    File(PathBuf),
    /// Text that has already been read.
    Text {
        name: String,
        text: Arc<[u8]>,
    },
    Fault(PathBuf, String),
}

/// The reason why an input could not be read.
#[derive(Debug)]
pub(crate) struct Unreadable {
    pub(crate) line: Option<usize>,
    pub(crate) message: String,
    /// The limit that ended the reading; `None` if the input is invalid or could not be read.
    pub(crate) limit: Option<LimitKind>,
}

impl Unreadable {
    /// Returns the error for an input that could not be read because a limit was reached.
    pub(crate) fn limit(kind: LimitKind) -> Self {
        let remedy = match kind {
            LimitKind::Cancelled => "interrupted".to_owned(),
            kind => format!("the {kind} limit was reached; raise the limit"),
        };
        Self { line: None, message: remedy, limit: Some(kind) }
    }

    /// Returns the exit code: 3 (undecided) for a limit, 2 for bad input.
    pub(crate) fn code(&self) -> u8 {
        if self.limit.is_some() { 3 } else { 2 }
    }

    /// Returns the message with the name of the file and the number of the line, in the form
    /// `file:line: message`.
    pub(crate) fn describe(&self, file: &str) -> String {
        match self.line {
            Some(line) => format!("{file}:{line}: {}", self.message),
            None => format!("{file}: {}", self.message),
        }
    }
}

impl From<CodecError> for Unreadable {
    fn from(fault: CodecError) -> Self {
        Self { line: fault.line(), message: fault.message().to_owned(), limit: None }
    }
}

impl From<NamedError> for Unreadable {
    fn from(fault: NamedError) -> Self {
        Self { line: fault.line(), message: fault.message().to_owned(), limit: None }
    }
}

impl From<String> for Unreadable {
    fn from(message: String) -> Self {
        Self { line: None, message, limit: None }
    }
}

impl Input {
    /// Returns the input for a single file, or standard input for `-`.
    pub(crate) fn of(path: &Path) -> Self {
        if path.as_os_str() == "-" { Self::Stdin } else { Self::File(path.to_owned()) }
    }

    /// Returns the name of the input in reports and errors.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Stdin => "-".to_owned(),
            Self::Text { name, .. } => name.clone(),
            Self::File(path) | Self::Fault(path, _) => path.display().to_string(),
        }
    }

    /// Returns an error if the output would be written to the same file as this input: the content
    /// of the file would be lost, or would be read while it is written. If `output` is `None`, the
    /// output is standard output.
    pub(crate) fn refuse_as_output(&self, output: Option<&Path>) -> Result<(), String> {
        let input = match self {
            Self::Stdin => Path::new("/dev/stdin"),
            Self::Text { .. } => return Ok(()),
            Self::File(path) | Self::Fault(path, _) => path,
        };
        if file::is_same(input, output.unwrap_or(Path::new("/dev/stdout"))) {
            let output = output.map_or_else(|| "standard output".to_owned(), |path| path.display().to_string());
            return Err(format!("{output} is also the input {}; write to another file", self.name()));
        }
        Ok(())
    }

    /// Returns up to `length` bytes from the beginning of the decompressed content.
    pub(crate) fn start(&self, length: u64, limits: &Limits) -> Result<Vec<u8>, Unreadable> {
        let limits = ReadLimits::new(limits);
        let mut start = Vec::new();
        let read = self.open(&limits)?.take(length).read_to_end(&mut start);
        read.map_err(|fault| limits.explain(format!("cannot read: {fault}; check the file").into()))?;
        Ok(start)
    }

    /// Opens an input that is still being written. A regular file is read until nothing has been
    /// appended to it for the time `idle`.
    pub(crate) fn follow(&self, limits: &Limits, idle: Option<Duration>) -> Result<Followed, Unreadable> {
        let read_limits = ReadLimits::new(limits);
        let content: Box<dyn Read> = match self {
            Self::Fault(_, message) => return Err(message.clone().into()),
            Self::Text { text, .. } => Box::new(io::Cursor::new(Arc::clone(text))),
            Self::Stdin => source::stdin(&read_limits).map_err(|fault| format!("cannot open: {fault}; give a file"))?,
            Self::File(path) if path.is_dir() => {
                return Err("this is a directory; name a file to follow".to_owned().into());
            }
            Self::File(path) if path.is_file() => {
                let file = File::open(path).map_err(|fault| format!("cannot open: {fault}; check the path"))?;
                let content = Box::new(Growing { file, limits: limits.clone(), position: 0, idle });
                return Ok(Followed { content, is_growing: true });
            }
            Self::File(path) => {
                source::file(path, &read_limits).map_err(|fault| format!("cannot open: {fault}; check the path"))?
            }
        };
        Ok(Followed { content, is_growing: false })
    }

    /// Opens the input and decompresses its content.
    fn open(&self, limits: &ReadLimits) -> Result<Box<dyn BufRead>, Unreadable> {
        let content: Box<dyn Read> = match self {
            Self::Fault(_, message) => return Err(message.clone().into()),
            Self::Text { text, .. } => Box::new(io::Cursor::new(Arc::clone(text))),
            Self::Stdin => source::stdin(limits).map_err(|fault| format!("cannot open: {fault}; give a file"))?,
            Self::File(path) => {
                source::file(path, limits).map_err(|fault| format!("cannot open: {fault}; check the path"))?
            }
        };
        if let Self::File(path) = self {
            limits.progress.size.set(path.metadata().map_or(0, |data| if data.is_file() { data.len() } else { 0 }));
        }
        limits.progress.show(&self.name());
        decompressed(Counted { content, progress: Rc::clone(&limits.progress) }, limits)
            .map_err(|fault| limits.explain(format!("cannot read: {fault}; check the file").into()))
    }
}

/// An input that is still being written.
pub(crate) struct Followed {
    pub(crate) content: Box<dyn Read>,
    /// Whether the input is a file, whose last line may be incomplete.
    pub(crate) is_growing: bool,
}

/// Reads from a connection until it is closed.
pub(crate) fn follow_socket(stream: TcpStream, limits: &Limits) -> io::Result<Followed> {
    // The timeout ends a read that receives nothing, so that the limits are checked regularly.
    stream.set_read_timeout(Some(Duration::from_millis(20)))?;
    Ok(Followed { content: Box::new(Socket { stream, limits: limits.clone() }), is_growing: false })
}

struct Socket {
    stream: TcpStream,
    limits: Limits,
}

impl Read for Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.stream.read(buffer) {
                Err(fault) if matches!(fault.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                    if self.limits.reached().is_some() {
                        return Ok(0);
                    }
                }
                read => return read,
            }
        }
    }
}

/// Reads a file that is still being written.
struct Growing {
    file: File,
    limits: Limits,
    position: u64,
    /// The input ends when nothing has been written for this long.
    idle: Option<Duration>,
}

impl Read for Growing {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let started = Instant::now();
        loop {
            let length = self.file.read(buffer)?;
            self.position += length as u64;
            if length > 0 {
                return Ok(length);
            }
            if self.file.metadata()?.len() < self.position {
                return Err(io::Error::other("the file became shorter while it was followed"));
            }
            if self.limits.reached().is_some() || self.idle.is_some_and(|idle| started.elapsed() >= idle) {
                return Ok(0);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// The limits for reading one input. They are checked whenever bytes are read, both before and after decompression.
#[derive(Clone, Debug)]
struct ReadLimits {
    limits: Limits,
    /// The maximum number of bytes that the history may take, as computed by [`estimate`]. The
    /// window of a decompressor has the same maximum.
    memory: u64,
    progress: Rc<Progress>,
    /// The first limit that was reached. It is stored here because decompressors do not preserve the kind of an error.
    reached: Rc<Cell<Option<LimitKind>>>,
}

impl ReadLimits {
    fn new(limits: &Limits) -> Self {
        Self { limits: limits.clone(), memory: limits.memory, progress: Rc::default(), reached: Rc::default() }
    }

    /// Returns an error if a limit has been reached. `bytes` is the memory that the history takes.
    fn check(&self, bytes: u64) -> io::Result<()> {
        let kind = match self.limits.reached() {
            Some(kind) => kind,
            None if bytes > self.memory => LimitKind::Memory,
            None => return Ok(()),
        };
        self.reached.set(self.reached.get().or(Some(kind)));
        Err(io::Error::other(format!("the {kind} limit was reached")))
    }

    /// Returns the limit that caused the fault, or the fault itself if no limit was reached.
    fn explain(&self, fault: Unreadable) -> Unreadable {
        match self.reached.get() {
            None => fault,
            Some(LimitKind::Cancelled) => Unreadable {
                message: format!("interrupted after reading {}", self.progress.describe()),
                ..Unreadable::limit(LimitKind::Cancelled)
            },
            Some(kind) => Unreadable::limit(kind),
        }
    }
}

/// How much of a file has been read.
#[derive(Debug, Default)]
struct Progress {
    /// The number of bytes that have been read, counted before decompression.
    read: Cell<u64>,
    /// The size of the file; 0 if it is not known.
    size: Cell<u64>,
    bar: RefCell<Option<ProgressBar>>,
}

impl Progress {
    /// Shows a progress bar, if stderr is a terminal, until this value is dropped.
    fn show(&self, name: &str) {
        *self.bar.borrow_mut() = Some(progress::reading(name, self.size.get()));
    }

    fn add(&self, bytes: usize) {
        self.read.set(self.read.get() + bytes as u64);
        if let Some(bar) = &*self.bar.borrow() {
            bar.set_position(self.read.get());
        }
    }

    /// Formats how much has been read, for messages.
    fn describe(&self) -> String {
        let (read, size) = (self.read.get(), self.size.get());
        match size.checked_sub(read) {
            Some(_) if size > 0 => format!("{} of {}", HumanBytes(read), HumanBytes(size)),
            _ => HumanBytes(read).to_string(),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.get_mut() {
            bar.finish_and_clear();
        }
    }
}

/// A reader that reports its progress.
struct Counted<R> {
    content: R,
    progress: Rc<Progress>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.content.read(buffer)?;
        self.progress.add(length);
        Ok(length)
    }
}

/// A reader that counts bytes and checks the limits.
struct Limited<R> {
    content: R,
    limits: ReadLimits,
    /// The estimated memory, in bytes, of the part of the history that has been read so far.
    taken: u64,
    /// Whether a name or a value may begin at the next byte.
    behind_gap: bool,
}

impl<R> Limited<R> {
    fn new(content: R, limits: &ReadLimits) -> Self {
        Self { content, limits: limits.clone(), taken: 0, behind_gap: true }
    }
}

/// The memory, in bytes, that the estimate counts for each value or name in a file, in addition to
/// its text. A `Value` takes 24 bytes. The record of an operation takes about 150 bytes for the
/// five or more names and values on its lines. In addition, vectors have spare capacity while they
/// grow.
const PER_ITEM: u64 = 32;

/// Estimates the memory, in bytes, that this part of a history takes. Before the call, `behind_gap`
/// states whether a name or value may begin at the first byte of this part. After the call, it
/// states whether one may begin at the first byte of the next part.
///
/// The estimate is simple. It is between 1.0 times (for short whole operations) and 3.6 times (for
/// EDN) the measured memory, so it is usually too high. Each byte that is not whitespace counts as
/// stored text. Each name or value adds [`PER_ITEM`] bytes; it begins after whitespace, a comma or
/// an opening bracket.
fn estimate(bytes: &[u8], behind_gap: &mut bool) -> u64 {
    // In blocks of this size, each sum fits in a byte, so that vector instructions can process many bytes at once.
    const BLOCK: usize = 128;
    let mut taken = 0;
    for block in bytes.chunks(BLOCK) {
        // For each byte, whether it is text, and whether a name or value may begin after it.
        let (mut texts, mut gaps) = ([0; BLOCK], [0; BLOCK]);
        for ((byte, text), gap) in block.iter().zip(&mut texts).zip(&mut gaps) {
            let is_space = matches!(byte, b' ' | b'\t' | b'\n') | (byte & !1 == b'\x0c');
            // `[` and `{` differ in one bit, and so do `(` and `,`.
            let is_gap = is_space | (byte | 0x20 == b'{') | (byte & !4 == b'(');
            (*text, *gap) = (u8::from(!is_space), u8::from(is_gap));
        }
        let text: u8 = texts.iter().sum();
        let items: u8 = texts[1..].iter().zip(&gaps).map(|(text, gap)| text & gap).sum();
        let first = u64::from(*behind_gap) & u64::from(texts[0]);
        taken += u64::from(text) + PER_ITEM * (u64::from(items) + first);
        *behind_gap = gaps[block.len() - 1] == 1;
    }
    taken
}

impl<R: BufRead> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.fill_buf()?.read(buffer)?;
        self.consume(length);
        Ok(length)
    }
}

impl<R: BufRead> BufRead for Limited<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.limits.check(self.taken)?;
        self.content.fill_buf()
    }

    fn consume(&mut self, length: usize) {
        // The consumed bytes are already in the buffer, so `fill_buf` neither reads nor fails.
        if let (Ok(buffer), true) = (self.content.fill_buf(), self.limits.memory < u64::MAX) {
            self.taken += estimate(&buffer[..length], &mut self.behind_gap);
        }
        self.content.consume(length);
    }
}

/// Opens files and standard input. Reading from a pipe or terminal waits no longer than the limits
/// allow.
#[cfg(unix)]
mod source {
    use std::fs::{File, OpenOptions};
    use std::io::{self, Read};
    use std::os::fd::AsFd as _;
    use std::os::unix::fs::OpenOptionsExt as _;
    use std::path::Path;
    use std::time::Duration;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::fs::OFlags;

    use super::ReadLimits;

    /// The maximum time that passes before a read notices that a limit was reached.
    const PATIENCE: Duration = Duration::from_millis(20);

    pub(super) fn stdin(limits: &ReadLimits) -> io::Result<Box<dyn Read>> {
        Ok(waiting(File::from(io::stdin().as_fd().try_clone_to_owned()?), limits))
    }

    pub(super) fn file(path: &Path, limits: &ReadLimits) -> io::Result<Box<dyn Read>> {
        // Without this flag, opening a pipe without a writer would block.
        let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or(0);
        Ok(waiting(OpenOptions::new().read(true).custom_flags(flags).open(path)?, limits))
    }

    fn waiting(file: File, limits: &ReadLimits) -> Box<dyn Read> {
        let is_file = file.metadata().is_ok_and(|data| data.is_file());
        if is_file { Box::new(file) } else { Box::new(Waiting { file, limits: limits.clone() }) }
    }

    /// A file that is read only when data is available.
    struct Waiting {
        file: File,
        limits: ReadLimits,
    }

    impl Read for Waiting {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            loop {
                self.limits.check(0)?;
                let timeout = Timespec { tv_sec: 0, tv_nsec: i64::from(PATIENCE.subsec_nanos()) };
                let mut wanted = [PollFd::new(&self.file, PollFlags::IN)];
                match poll(&mut wanted, Some(&timeout)) {
                    Ok(0) | Err(rustix::io::Errno::INTR) => continue,
                    Ok(_) => {}
                    Err(fault) => return Err(fault.into()),
                }
                match self.file.read(buffer) {
                    Err(fault) if fault.kind() == io::ErrorKind::WouldBlock => {}
                    read => return read,
                }
            }
        }
    }
}

/// Opens files and standard input. Reading from a pipe waits indefinitely.
#[cfg(not(unix))]
mod source {
    use std::fs::File;
    use std::io::{self, Read};
    use std::path::Path;

    use super::ReadLimits;

    pub(super) fn stdin(_: &ReadLimits) -> io::Result<Box<dyn Read>> {
        Ok(Box::new(io::stdin().lock()))
    }

    pub(super) fn file(path: &Path, _: &ReadLimits) -> io::Result<Box<dyn Read>> {
        Ok(Box::new(File::open(path)?))
    }
}

/// Options for reading histories.
#[derive(Debug)]
pub(crate) struct Reading {
    format: Format,
    tuples: Option<Tuples>,
    mapping: Option<Mapping>,
    notes: Vec<Note>,
    skew: i64,
}

impl Reading {
    /// Creates the options from the arguments, or returns an error that says what is wrong with them.
    pub(crate) fn new(args: &ReadArgs, skew: i64) -> Result<Self, String> {
        let mapping = args.map.as_deref().map(read_mapping).transpose()?;
        let notes = args.notes.as_deref().map(read_notes).transpose()?.unwrap_or_default();
        Ok(Self { format: args.format.into(), tuples: args.tuples(), mapping, notes, skew })
    }

    /// Returns whether the file names the process of each operation. If it does not, the reader may
    /// invent processes to which it assigns the operations.
    pub(crate) fn names_processes(&self) -> bool {
        self.mapping.as_ref().is_none_or(Mapping::names_processes)
    }

    /// Returns whether the input is read with a mapping.
    pub(crate) fn is_mapped(&self) -> bool {
        self.mapping.is_some()
    }

    /// Returns the format of the input.
    pub(crate) fn format(&self) -> Format {
        self.format
    }

    /// Returns these options, with their mapping replaced by `mapping`.
    pub(crate) fn with_mapping(self, mapping: Mapping) -> Self {
        Self { mapping: Some(mapping), ..self }
    }

    /// Reads a history, or fails if a limit is reached.
    pub(crate) fn read(&self, input: &Input, limits: &Limits) -> Result<RawHistory, Unreadable> {
        self.with_source(input, limits, |source| source.read().map_err(Unreadable::from))
    }

    /// Opens an input, and reads it with `read`.
    fn with_source<T>(
        &self,
        input: &Input,
        limits: &Limits,
        read: impl FnOnce(Source<'_>) -> Result<T, Unreadable>,
    ) -> Result<T, Unreadable> {
        let limits = ReadLimits::new(limits);
        let mut content = input.open(&limits)?;
        let mut warnings = Vec::new();
        let read = read(Source {
            input: &mut *content,
            format: self.format,
            mapping: self.mapping.as_ref(),
            tuples: self.tuples,
            skew: self.skew,
            notes: &self.notes,
            warnings: &mut warnings,
        });
        let read = read.map_err(|fault| limits.explain(fault))?;
        for warning in warnings {
            output::warning(format_args!("{}: {warning}", input.name()));
        }
        Ok(read)
    }

    /// Reads a history for a specification, or fails if a limit is reached.
    pub(crate) fn read_for<'s>(
        &self,
        spec: &'s NamedSpec,
        input: &Input,
        limits: &Limits,
    ) -> Result<Box<dyn Unjudged<'s> + 's>, Unreadable> {
        self.with_source(input, limits, |source| spec.read(source).map_err(Unreadable::from))
    }

    /// Reads as much of a history as possible: events that do not fit the events before them are
    /// left out and reported.
    pub(crate) fn survey(&self, input: &Input, limits: &Limits) -> Result<Survey, Unreadable> {
        let limits = ReadLimits::new(limits);
        let survey = codec::survey(input.open(&limits)?, self.format, self.mapping.as_ref());
        let mut survey = survey.map_err(|fault| limits.explain(fault.into()))?;
        if let Some(tuples) = self.tuples {
            survey.history = tuples.take_apart(survey.history)?;
        }
        Ok(survey)
    }
}

/// Returns the preset with this name, or reads a mapping from a file in TOML or JSON.
fn read_mapping(path: &Path) -> Result<Mapping, String> {
    if let Some(preset) = path.to_str().and_then(Mapping::preset) {
        return Ok(preset);
    }
    let name = path.display();
    let mut text = String::new();
    File::open(path).and_then(|file| file.take(LARGEST_MAPPING + 1).read_to_string(&mut text)).map_err(|fault| {
        let presets: Vec<&str> = Mapping::presets().map(|(name, _)| name).collect();
        format!("{name}: cannot read: {fault}; check the path, or give a preset ({})", presets.join(", "))
    })?;
    if text.len() as u64 > LARGEST_MAPPING {
        return Err(format!("{name}: longer than {} MiB; give a mapping, not a history", LARGEST_MAPPING >> 20));
    }
    let description: serde_json::Value = if text.trim_start().starts_with('{') {
        serde_json::from_str(&text).map_err(|fault| format!("{name}: this is not JSON ({fault}); correct it"))?
    } else {
        toml::from_str(&text).map_err(|fault| {
            let line = fault.span().map_or(1, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
            format!("{name}:{line}: this is not TOML ({}); correct it", fault.message())
        })?
    };
    Mapping::from_json(&description).map_err(|fault| format!("{name}: {fault}"))
}

/// Reads the notes that the file `path` contains.
fn read_notes(path: &Path) -> Result<Vec<Note>, String> {
    let name = path.display();
    let file = File::open(path).map_err(|fault| format!("{name}: cannot open: {fault}; check the path"))?;
    let notes = codec::notes(BufReader::new(file));
    notes.map_err(|fault| Unreadable::from(fault).describe(&name.to_string()))
}

/// Decompresses the content if its first bytes show that it is compressed. Apart from small
/// buffers, a decompressor keeps only a window of the content in memory; a zstd window above the
/// memory limit is refused. The limits are the same as for uncompressed files.
fn decompressed(content: impl Read + 'static, limits: &ReadLimits) -> io::Result<Box<dyn BufRead>> {
    // A large amount of compressed data may decompress to nothing. Therefore the time limit is also
    // checked when compressed bytes are read.
    let unlimited = ReadLimits { memory: u64::MAX, ..limits.clone() };
    let mut content = Limited::new(BufReader::with_capacity(CHUNK, content), &unlimited);
    // A pipe may deliver the first bytes one by one.
    let mut start = Vec::new();
    (&mut content).take(4).read_to_end(&mut start)?;
    let whole = io::Cursor::new(start.clone()).chain(content);
    Ok(match start.as_slice() {
        [0x1f, 0x8b, ..] => Box::new(Limited::new(buffered("gzip", MultiGzDecoder::new(whole)), limits)),
        // A zstd file begins with a frame with data, or with a skippable frame.
        [0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18] => {
            let zstd = Zstd { state: State::Between(whole), limits: limits.clone() };
            Box::new(Limited::new(buffered("zstd", zstd), limits))
        }
        _ => Box::new(Limited::new(whole, limits)),
    })
}

fn buffered<R: Read>(format: &'static str, content: R) -> BufReader<Explained<R>> {
    BufReader::with_capacity(CHUNK, Explained { content, format })
}

/// A reader that adds advice for the user to each error.
struct Explained<R> {
    content: R,
    format: &'static str,
}

impl<R: Read> Read for Explained<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let format = self.format;
        self.content.read(buffer).map_err(|fault| match fault.kind() {
            io::ErrorKind::Interrupted => fault,
            kind => {
                io::Error::new(kind, format!("the {format} data is broken or cut off ({fault}); copy the file again"))
            }
        })
    }
}

/// The frames of a zstd file, one after the other.
struct Zstd<R: BufRead> {
    state: State<R>,
    limits: ReadLimits,
}

/// The decoder of a frame whose header has already been read.
type Frame<R> = StreamingDecoder<io::Chain<io::Cursor<Vec<u8>>, R>, ruzstd::decoding::FrameDecoder>;

enum State<R: BufRead> {
    Between(R),
    Frame(Box<Frame<R>>),
    Broken,
}

impl<R: BufRead> Read for Zstd<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match std::mem::replace(&mut self.state, State::Broken) {
                State::Broken => return Err(io::ErrorKind::InvalidData.into()),
                State::Between(mut source) => {
                    if source.fill_buf()?.is_empty() {
                        self.state = State::Between(source);
                        return Ok(0);
                    }
                    if let Some(length) = skippable(&mut source)? {
                        io::copy(&mut (&mut source).take(length), &mut io::sink())?;
                        self.state = State::Between(source);
                        continue;
                    }
                    let (header, window) = zstd_header(&mut source)?;
                    // The decoder keeps the latest text in memory, up to the size of the window.
                    self.limits.check(window)?;
                    let frame = StreamingDecoder::new(io::Cursor::new(header).chain(source))
                        .map_err(|fault| io::Error::new(io::ErrorKind::InvalidData, fault.to_string()))?;
                    self.state = State::Frame(Box::new(frame));
                }
                State::Frame(mut frame) => {
                    let length = frame.read(buffer)?;
                    if length > 0 || buffer.is_empty() {
                        self.state = State::Frame(frame);
                        return Ok(length);
                    }
                    self.state = State::Between(frame.into_inner().into_inner().1);
                }
            }
        }
    }
}

/// If the next frame is skippable, reads its header and returns the length of its content.
/// Otherwise, reads nothing and returns `None`.
fn skippable(source: &mut impl BufRead) -> io::Result<Option<u64>> {
    // The first byte is sufficient: frames with data begin with 0x28.
    if !matches!(source.fill_buf()?.first(), Some(0x50..=0x5f)) {
        return Ok(None);
    }
    let mut header = [0; 8];
    source.read_exact(&mut header)?;
    Ok(Some(u64::from(u32::from_le_bytes([header[4], header[5], header[6], header[7]]))))
}

/// Reads the header of a frame up to the fields that determine the window, and returns it with the size of the window
/// in bytes (RFC 8878, section 3.1.1.1).
fn zstd_header(source: &mut impl BufRead) -> io::Result<(Vec<u8>, u64)> {
    let mut header = Vec::new();
    let mut read = |length: u64, header: &mut Vec<u8>| {
        let before = header.len();
        (&mut *source).take(length).read_to_end(header)?;
        // If the file ends within the header, the decoder will report it.
        Ok::<u64, io::Error>(header[before..].iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    };
    read(4, &mut header)?;
    let descriptor = read(1, &mut header)?;
    let is_one_segment = descriptor & 0x20 != 0;
    if !is_one_segment {
        let window = read(1, &mut header)?;
        let (exponent, mantissa) = (window >> 3, window & 7);
        let base = 1_u64 << (10 + exponent);
        return Ok((header, base + base / 8 * mantissa));
    }
    // In a single-segment frame, the window is the whole content.
    read([0, 1, 2, 4][(descriptor & 3) as usize], &mut header)?;
    let size = match descriptor >> 6 {
        1 => read(2, &mut header)? + 256,
        longer => read(1 << longer, &mut header)?,
    };
    Ok((header, size))
}

/// Returns two lists: the inputs, and the files that were skipped. If a path names a directory, the
/// first list contains the histories below the directory, sorted by name. A file below a directory
/// is skipped if its extension is one that histories may have, but its content does not look like a
/// history.
pub(crate) fn find_inputs(paths: &[PathBuf]) -> (Vec<Input>, Vec<PathBuf>) {
    let mut inputs = Vec::new();
    let mut passed_over = Vec::new();
    for path in paths {
        let input = Input::of(path);
        if matches!(input, Input::File(_)) && path.is_dir() {
            let mut files = Vec::new();
            match find_files(path, &mut files, &mut passed_over) {
                Err((place, fault)) => {
                    let message = format!("cannot list the directory: {fault}; check its permissions");
                    inputs.push(Input::Fault(place, message));
                }
                Ok(()) if files.is_empty() => {
                    let message = "this directory contains no *.jsonl, *.json, *.edn, *.parquet, *.arrow or *.feather file, and no log that looks like a history; give the paths of files, or another directory";
                    inputs.push(Input::Fault(path.clone(), message.to_owned()));
                }
                Ok(()) => {
                    files.sort();
                    inputs.extend(files.into_iter().map(Input::File));
                }
            }
        } else {
            inputs.push(input);
        }
    }
    passed_over.sort();
    (inputs, passed_over)
}

/// Adds the histories below `directory`. Symbolic links to directories are not followed, because they may form cycles.
fn find_files(
    directory: &Path,
    files: &mut Vec<PathBuf>,
    passed_over: &mut Vec<PathBuf>,
) -> Result<(), (PathBuf, io::Error)> {
    let fault = |error| (directory.to_owned(), error);
    let mut directories = Vec::new();
    for entry in fs::read_dir(directory).map_err(fault)? {
        let entry = entry.map_err(fault)?;
        let path = entry.path();
        if entry.file_type().map_err(fault)?.is_dir() {
            directories.push(path);
        } else if path.is_file() {
            match is_history(&path) {
                Some(true) => files.push(path),
                Some(false) => passed_over.push(path),
                None => {}
            }
        }
    }
    directories.iter().try_for_each(|directory| find_files(directory, files, passed_over))
}

/// Returns whether a file is a history; `None` if histories cannot have the extension of this file.
///
/// The content of files with the extensions `log` and `txt` is examined, because a directory of
/// histories may also contain logs and text files of other kinds.
fn is_history(path: &Path) -> Option<bool> {
    let extension = |path: &Path| path.extension().and_then(|extension| extension.to_str()).map(str::to_owned);
    let kind = match extension(path).as_deref() {
        Some("gz" | "zst" | "zstd") => extension(&path.with_extension("")),
        other => other.map(str::to_owned),
    };
    match kind.as_deref() {
        Some("jsonl" | "json" | "edn" | "parquet" | "arrow" | "feather") => Some(true),
        Some("log" | "txt") => {
            let mut start = Vec::new();
            let limits = ReadLimits::new(&Limits::start(&TO_LOOK, &CancelToken::new()));
            let looked = File::open(path)
                .and_then(|file| decompressed(file, &limits))
                .and_then(|content| content.take(CHUNK as u64).read_to_end(&mut start));
            // A file that cannot be read counts as a history, so that the error is reported later.
            Some(looked.is_err() || codec::detect(&start).is_some())
        }
        _ => None,
    }
}

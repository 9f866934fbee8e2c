//! Where histories come from: files, directories, standard input; plain or compressed.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::StreamingDecoder;
use trueline::history::RawHistory;
use trueline::history::codec::{self, CodecError, Format, Mapping, Survey, Tuples};

use crate::args::ReadArgs;

/// How much is read from a file at once.
const CHUNK: usize = 1 << 18;

/// Something to read, or why there is nothing.
pub(crate) enum Input {
    Stdin,
    File(PathBuf),
    Fault(PathBuf, String),
}

/// Why an input could not be read.
#[derive(Debug)]
pub(crate) struct Unreadable {
    pub(crate) line: Option<usize>,
    pub(crate) message: String,
}

impl Unreadable {
    /// The message with its place, as compilers write it.
    pub(crate) fn describe(&self, file: &str) -> String {
        match self.line {
            Some(line) => format!("{file}:{line}: {}", self.message),
            None => format!("{file}: {}", self.message),
        }
    }
}

impl From<CodecError> for Unreadable {
    fn from(fault: CodecError) -> Self {
        Self { line: fault.line(), message: fault.message().to_owned() }
    }
}

impl From<String> for Unreadable {
    fn from(message: String) -> Self {
        Self { line: None, message }
    }
}

impl Input {
    /// A single file, or `-`.
    pub(crate) fn of(path: &Path) -> Self {
        if path.as_os_str() == "-" { Self::Stdin } else { Self::File(path.to_owned()) }
    }

    /// The name that reports and errors give it.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Stdin => "-".to_owned(),
            Self::File(path) | Self::Fault(path, _) => path.display().to_string(),
        }
    }

    /// The content, no longer compressed.
    pub(crate) fn open(&self) -> Result<Box<dyn BufRead>, Unreadable> {
        let content: Box<dyn Read> = match self {
            Self::Fault(_, message) => return Err(message.clone().into()),
            Self::Stdin => Box::new(io::stdin().lock()),
            Self::File(path) => {
                Box::new(File::open(path).map_err(|fault| format!("cannot open: {fault}; check the path"))?)
            }
        };
        decompressed(content).map_err(|fault| format!("cannot read: {fault}; check the file").into())
    }
}

/// How histories are read.
#[derive(Debug)]
pub(crate) struct Reading {
    format: Format,
    tuples: Option<Tuples>,
    mapping: Option<Mapping>,
    skew: i64,
}

impl Reading {
    /// As the arguments say; or what is wrong with them.
    pub(crate) fn new(args: &ReadArgs, skew: i64) -> Result<Self, String> {
        let mapping = args.map.as_deref().map(read_mapping).transpose()?;
        Ok(Self { format: args.format.into(), tuples: args.tuples(), mapping, skew })
    }

    /// Reads a history.
    pub(crate) fn read(&self, input: &Input) -> Result<RawHistory, Unreadable> {
        let content = input.open()?;
        let history = match &self.mapping {
            Some(mapping) => mapping.read(content, self.skew)?,
            None => codec::read_skewed(content, self.format, self.skew)?,
        };
        Ok(match self.tuples {
            Some(tuples) => tuples.take_apart(history)?,
            None => history,
        })
    }

    /// Reads a history forgivingly.
    pub(crate) fn survey(&self, input: &Input) -> Result<Survey, Unreadable> {
        let mut survey = codec::survey(input.open()?, self.format, self.mapping.as_ref())?;
        if let Some(tuples) = self.tuples {
            survey.history = tuples.take_apart(survey.history)?;
        }
        Ok(survey)
    }
}

/// A mapping from a file of TOML or JSON.
fn read_mapping(path: &Path) -> Result<Mapping, String> {
    let name = path.display();
    let text = fs::read_to_string(path).map_err(|fault| format!("{name}: cannot read: {fault}; check the path"))?;
    let description: serde_json::Value = if text.trim_start().starts_with('{') {
        serde_json::from_str(&text).map_err(|fault| format!("{name}: this is no JSON ({fault}); correct it"))?
    } else {
        toml::from_str(&text).map_err(|fault| {
            let line = fault.span().map_or(1, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
            format!("{name}:{line}: this is no TOML ({}); correct it", fault.message())
        })?
    };
    Mapping::from_json(&description).map_err(|fault| format!("{name}: {fault}"))
}

/// A text that may be compressed, by how it begins. Nothing is kept of it but a buffer, however large it gets; the limits of
/// those who read it hold as for any other file.
fn decompressed(content: impl Read + 'static) -> io::Result<Box<dyn BufRead>> {
    let mut content = BufReader::with_capacity(CHUNK, content);
    // A pipe may give the first bytes one by one.
    let mut start = Vec::new();
    (&mut content).take(4).read_to_end(&mut start)?;
    let whole = io::Cursor::new(start.clone()).chain(content);
    Ok(match start.as_slice() {
        [0x1f, 0x8b, ..] => Box::new(buffered("gzip", MultiGzDecoder::new(whole))),
        // A frame, or one that may be skipped.
        [0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18] => Box::new(buffered("zstd", Zstd::Between(whole))),
        _ => Box::new(whole),
    })
}

fn buffered<R: Read>(format: &'static str, content: R) -> BufReader<Explained<R>> {
    BufReader::with_capacity(CHUNK, Explained { content, format })
}

/// Says of an error what to do.
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
                io::Error::new(kind, format!("the {format} data are broken or cut off ({fault}); copy the file again"))
            }
        })
    }
}

/// The frames of a zstd file, one behind the other.
enum Zstd<R: BufRead> {
    Between(R),
    Frame(Box<StreamingDecoder<R, ruzstd::decoding::FrameDecoder>>),
    Broken,
}

impl<R: BufRead> Read for Zstd<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match std::mem::replace(self, Self::Broken) {
                Self::Broken => return Err(io::ErrorKind::InvalidData.into()),
                Self::Between(mut source) => {
                    if source.fill_buf()?.is_empty() {
                        *self = Self::Between(source);
                        return Ok(0);
                    }
                    if let Some(length) = skippable(&mut source)? {
                        io::copy(&mut (&mut source).take(length), &mut io::sink())?;
                        *self = Self::Between(source);
                        continue;
                    }
                    let frame = StreamingDecoder::new(source)
                        .map_err(|fault| io::Error::new(io::ErrorKind::InvalidData, fault.to_string()))?;
                    *self = Self::Frame(Box::new(frame));
                }
                Self::Frame(mut frame) => {
                    let length = frame.read(buffer)?;
                    if length > 0 || buffer.is_empty() {
                        *self = Self::Frame(frame);
                        return Ok(length);
                    }
                    *self = Self::Between(frame.into_inner());
                }
            }
        }
    }
}

/// The length of a frame that is to be skipped, whose header is read then; `None` if the next is none.
fn skippable(source: &mut impl BufRead) -> io::Result<Option<u64>> {
    // The first byte tells: frames with data begin with 0x28.
    if !matches!(source.fill_buf()?.first(), Some(0x50..=0x5f)) {
        return Ok(None);
    }
    let mut header = [0; 8];
    source.read_exact(&mut header)?;
    Ok(Some(u64::from(u32::from_le_bytes([header[4], header[5], header[6], header[7]]))))
}

/// The inputs, with each directory replaced by the files below it, in the order of their names; and the files that were
/// passed over although their names allow histories.
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
                    let message = "no *.jsonl, *.json or *.edn file, and no log, in this directory; name the files, or another directory";
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

/// Adds the histories below `directory`. Links to directories are not followed: they may lead in circles.
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

/// Whether a file is a history; `None` if its name says that it is something else.
///
/// Logs and texts of all kinds lie beside histories: they must look like one.
fn is_history(path: &Path) -> Option<bool> {
    let extension = |path: &Path| path.extension().and_then(|extension| extension.to_str()).map(str::to_owned);
    let kind = match extension(path).as_deref() {
        Some("gz" | "zst" | "zstd") => extension(&path.with_extension("")),
        other => other.map(str::to_owned),
    };
    match kind.as_deref() {
        Some("jsonl" | "json" | "edn") => Some(true),
        Some("log" | "txt") => {
            let mut start = Vec::new();
            let looked = File::open(path)
                .and_then(decompressed)
                .and_then(|content| content.take(CHUNK as u64).read_to_end(&mut start));
            // What cannot be read is to be complained about.
            Some(looked.is_err() || codec::detect(&start).is_some())
        }
        _ => None,
    }
}

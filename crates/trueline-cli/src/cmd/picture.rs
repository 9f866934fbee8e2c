//! Timelines of judged histories, in the terminal and in files.

use std::collections::HashSet;
use std::fs;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};

use trueline::view::terminal::{self, Letters};
use trueline::view::text::Style;
use trueline::view::{Timeline, file, html, svg};

use crate::args::CheckArgs;
use crate::input::Input;
use crate::output;

/// The width of the picture if the width of the terminal is not known.
const WIDTH: usize = 100;

/// Returns the timeline as text for the terminal.
pub(super) fn in_terminal(timeline: &Timeline, args: &CheckArgs) -> String {
    let width = terminal_size::terminal_size().map_or(WIDTH, |(width, _)| usize::from(width.0));
    let letters = if args.ascii { Letters::Ascii } else { Letters::Unicode };
    let settings =
        terminal::Settings { width, letters, style: Style::Ansi, core_only: args.core, ..Default::default() };
    terminal::render(timeline, &settings)
}

/// The file formats in which a timeline can be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Html,
    Svg,
}

impl Form {
    /// Returns the format that the extension of the file name stands for.
    pub(super) fn of(path: &Path) -> Result<Self, String> {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        match extension.to_ascii_lowercase().as_str() {
            "html" | "htm" => Ok(Self::Html),
            "svg" => Ok(Self::Svg),
            _ => Err(format!("cannot draw to {}: the file name must end in .html or .svg", path.display())),
        }
    }
}

/// The files in which the histories of a command are drawn.
pub(super) enum Pages {
    /// There is only one history, which is drawn in this file.
    File(PathBuf),
    /// Each history is drawn on a separate page in this folder. The set contains the file names
    /// that are already used.
    Folder(PathBuf, HashSet<String>),
}

impl Pages {
    /// Chooses where to draw the given number of inputs. The path names a folder if it is an
    /// existing directory, has no extension, or ends with a separator. The folder is created if it
    /// does not exist.
    pub(super) fn new(path: &Path, inputs: usize) -> Result<Self, String> {
        let name = path.display();
        let says_folder = path.is_dir() || path.extension().is_none() || name.to_string().ends_with(MAIN_SEPARATOR);
        if says_folder {
            fs::create_dir_all(path)
                .map_err(|fault| format!("cannot create the directory {name}: {fault}; check the path"))?;
            return Ok(Self::Folder(path.to_owned(), HashSet::new()));
        }
        Form::of(path)?;
        if inputs > 1 {
            let folder = path.with_extension("");
            return Err(format!(
                "--view {name} can draw only one history, but there are {inputs} files; name a directory, such as \
                 {}{MAIN_SEPARATOR}, to get a page for each",
                folder.display()
            ));
        }
        Ok(Self::File(path.to_owned()))
    }

    /// Returns the file in which the next input is drawn. In a folder, the file has the name of the
    /// input and the extension `.html`; if this name is already used, a number is added.
    pub(super) fn next(&mut self, input: &Input) -> PathBuf {
        let (folder, taken) = match self {
            Self::File(path) => return path.clone(),
            Self::Folder(folder, taken) => (folder, taken),
        };
        let name = match input {
            Input::Stdin | Input::Text { .. } => "standard-input".to_owned(),
            Input::File(path) | Input::Fault(path, _) => {
                path.file_name().unwrap_or_default().to_string_lossy().into_owned()
            }
        };
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        let name = std::iter::once(name.clone()).chain(numbered).find(|name| taken.insert(name.clone()));
        folder.join(format!("{}.html", name.unwrap_or_default()))
    }
}

/// A timeline that has been drawn but not yet written.
pub(super) struct Drawn {
    path: PathBuf,
    content: String,
}

/// Draws the timeline for a file.
pub(super) fn draw(path: PathBuf, timeline: &Timeline, args: &CheckArgs) -> Result<Drawn, String> {
    let content = match Form::of(&path)? {
        Form::Html => html::render(timeline, &html::Settings { core_first: args.core }),
        Form::Svg if args.core => svg::render(&timeline.core_only(svg::MOST_SHOWN)),
        Form::Svg => svg::render(timeline),
    };
    Ok(Drawn { path, content })
}

impl Drawn {
    /// Writes the file, and prints a note about it.
    pub(super) fn write(self, args: &CheckArgs) -> Result<(), String> {
        let path = self.path.display();
        file::write(&self.path, self.content)
            .map_err(|fault| format!("cannot write {path}: {fault}; check the directory, or free some space"))?;
        if !args.quiet {
            output::note(format_args!("drawn in {path}"));
        }
        Ok(())
    }
}

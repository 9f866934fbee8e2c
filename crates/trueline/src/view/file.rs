//! Writes files completely or not at all.
//!
//! Output is written to a temporary file in the same folder. The temporary file is then renamed. A
//! reader finds either the old content or all of the new content, even after a crash, when the disk
//! is full, or when two processes write the file at the same time. A process that is killed may
//! leave a `.trueline-*.tmp` file, which is never read.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Writes `content` to the file, completely or not at all: see [`write_with`].
///
/// # Errors
/// Fails if [`write_with`] fails.
pub fn write(path: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    write_with(path, |out| out.write_all(content.as_ref()))
}

/// Calls `write` to produce the file, and replaces an existing file once all of the new content is on disk.
///
/// A replaced file keeps its permissions. If the path is a symbolic link, its target is replaced. Other hard links to a
/// replaced file keep the old content. If the path is not a regular file, such as a pipe or `/dev/stdout`, the output
/// is written to it directly.
///
/// ```
/// use std::io::Write;
/// use trueline::view::file;
///
/// # fn main() -> std::io::Result<()> {
/// let path = std::env::temp_dir().join(format!("trueline-example-{}.txt", std::process::id()));
/// file::write(&path, "old")?;
/// let failed = file::write_with(&path, |out| {
///     out.write_all(b"new")?;
///     Err(std::io::Error::other("the rest is not there"))
/// });
/// assert!(failed.is_err());
/// assert_eq!(std::fs::read_to_string(&path)?, "old");
/// # std::fs::remove_file(path)
/// # }
/// ```
///
/// # Errors
/// Fails if `write` fails, or if the folder or the disk rejects the file. A regular file that existed before is then
/// unchanged.
pub fn write_with<E: From<io::Error>>(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<(), E>,
) -> Result<(), E> {
    let before = fs::metadata(path).ok();
    if before.as_ref().is_some_and(|before| !before.is_file()) {
        let mut out = BufWriter::new(OpenOptions::new().write(true).open(path)?);
        write(&mut out)?;
        return Ok(out.flush()?);
    }
    let path = behind_links(path);
    // Try to open an existing file for writing. If this fails, the error is the same as if the file
    // were written directly.
    if before.is_some() {
        OpenOptions::new().write(true).open(&path)?;
    }
    let (temporary, file) = Temporary::beside(&path)?;
    if let Some(before) = before {
        file.set_permissions(before.permissions())?;
    }
    let mut out = BufWriter::new(file);
    write(&mut out)?;
    out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
    fs::rename(&temporary.0, &path)?;
    Ok(())
}

/// Returns whether both paths lead to the same existing file, possibly through links.
pub fn is_same(one: &Path, other: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let identity =
            |path| fs::metadata(path).ok().filter(fs::Metadata::is_file).map(|data| (data.dev(), data.ino()));
        identity(one).is_some_and(|found| identity(other) == Some(found))
    }
    #[cfg(not(unix))]
    {
        fs::canonicalize(one).is_ok_and(|found| fs::canonicalize(other).is_ok_and(|other| found == other))
    }
}

/// Returns the target of a symbolic link, even if it does not exist.
fn behind_links(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    // Linux follows at most 40 links, too.
    for _ in 0..40 {
        let Ok(target) = fs::read_link(&path) else { break };
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
    path
}

/// A file with a unique name. Dropping this value removes the file, unless the file was renamed.
struct Temporary(PathBuf);

impl Temporary {
    fn beside(path: &Path) -> io::Result<(Self, File)> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = path.with_file_name(format!(".trueline-{}-{number}.tmp", std::process::id()));
            match OpenOptions::new().write(true).create_new(true).open(&name) {
                Ok(file) => return Ok((Self(name), file)),
                // A file with this name was left by a killed process, or belongs to a process on
                // another machine: try the next name.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("trueline-file-{name}-{}", std::process::id()));
            fs::create_dir_all(&path).expect("temporary files are allowed");
            Self(path)
        }

        fn names(&self) -> Vec<String> {
            let entries = fs::read_dir(&self.0).expect("readable").map(|entry| entry.expect("readable").file_name());
            let mut names: Vec<String> = entries.map(|name| name.to_string_lossy().into_owned()).collect();
            names.sort();
            names
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_write_that_fails_at_any_byte_changes_nothing() {
        let folder = Folder::new("fails");
        let path = folder.0.join("out");
        let content: Vec<u8> = (0..200).collect();
        for is_there in [false, true] {
            if is_there {
                fs::write(&path, "before").expect("the test owns the folder");
            }
            for fails_at in 0..content.len() {
                let failed = write_with(&path, |out| {
                    out.write_all(&content[..fails_at])?;
                    out.flush()?;
                    Err(io::Error::other("no more"))
                });
                assert!(failed.is_err());
                assert_eq!(fs::read(&path).ok(), is_there.then(|| b"before".to_vec()));
                assert_eq!(folder.names().len(), usize::from(is_there));
            }
        }
        write(&path, &content).expect("the file can be written");
        assert_eq!(fs::read(&path).expect("the file exists"), content);
        assert_eq!(folder.names(), ["out"]);
    }

    #[test]
    fn folders_that_do_not_exist_and_folders_themselves_are_refused() {
        let folder = Folder::new("refused");
        assert_eq!(write(&folder.0.join("no/out"), "x").expect_err("no folder").kind(), io::ErrorKind::NotFound);
        assert!(write(&folder.0, "x").is_err());
        assert!(folder.names().is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_stay() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};

        let folder = Folder::new("links");
        let at = |name: &str| folder.0.join(name);
        fs::write(at("real"), "before").expect("the test owns the folder");
        fs::set_permissions(at("real"), fs::Permissions::from_mode(0o640)).expect("the test owns the folder");
        symlink("real", at("link")).expect("the test owns the folder");
        symlink("link", at("second")).expect("the test owns the folder");
        symlink("absent", at("dangling")).expect("the test owns the folder");
        write(&at("second"), "after").expect("the file can be written");
        write(&at("dangling"), "new").expect("the file can be written");
        assert_eq!(fs::read_to_string(at("real")).expect("the file exists"), "after");
        assert_eq!(fs::metadata(at("real")).expect("the file exists").permissions().mode() & 0o777, 0o640);
        assert_eq!(fs::read_to_string(at("absent")).expect("writing to the link creates its target"), "new");
        assert_eq!(folder.names(), ["absent", "dangling", "link", "real", "second"]);
        fs::hard_link(at("real"), at("hard")).expect("the test owns the folder");
        assert!(is_same(&at("real"), &at("second")) && is_same(&at("hard"), &at("link")));
        assert!(!is_same(&at("real"), &at("absent")) && !is_same(&at("none"), &at("none")));
    }
}

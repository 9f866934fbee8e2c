//! The settings of cargo's configuration files that decide how the compiler is called.
//!
//! `cargo config get` is not stable, so the files are read here. Only strings in the section `build` are needed, so
//! this is not a complete reader of TOML.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Returns a setting of the section `build`: the value of its environment variable or, if this is
/// not set, the value in the closest configuration file.
pub(crate) fn of_build(key: &str) -> Option<OsString> {
    let variable = format!("CARGO_BUILD_{}", key.replace('-', "_").to_uppercase());
    if let Some(value) = env::var_os(variable).filter(|value| !value.is_empty()) {
        return Some(value);
    }
    let folder = env::current_dir().ok()?;
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cargo")));
    let files = folder.ancestors().map(|folder| folder.join(".cargo")).chain(home);
    files.flat_map(|folder| ["config", "config.toml"].map(|name| folder.join(name))).find_map(|file| {
        let text = fs::read_to_string(&file).ok()?;
        let value = in_text(&text, key)?;
        // A path with separators is relative to the folder that contains `.cargo`.
        let is_path = key != "target" && Path::new(&value).components().count() > 1;
        let base = file.parent().and_then(Path::parent).filter(|_| is_path);
        Some(base.map_or_else(|| value.clone().into(), |base| base.join(&value).into()))
    })
}

/// Returns the string value of this key in the section `[build]`.
fn in_text(text: &str, key: &str) -> Option<String> {
    let mut section = "";
    text.lines().find_map(|line| {
        let line = line.trim();
        if let Some(name) = line.strip_prefix('[') {
            section = name.split(']').next().unwrap_or_default().trim();
            return None;
        }
        let (name, value) = line.split_once('=')?;
        let name = name.trim();
        let is_it = match section {
            "build" => name == key,
            "" => name.strip_prefix("build.") == Some(key),
            _ => false,
        };
        let value = value.trim();
        let quote = value.chars().next().filter(|first| is_it && matches!(first, '"' | '\''))?;
        value[1..].split(quote).next().map(str::to_owned)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_of_the_section_build_are_found() {
        let text =
            "[alias]\ntarget = \"no\"\n[build]  # mine\nrustc-wrapper = 'sccache' # fast\ntarget=\"t\"\njobs = 1\n";
        assert_eq!(in_text(text, "rustc-wrapper").as_deref(), Some("sccache"));
        assert_eq!(in_text(text, "target").as_deref(), Some("t"));
        assert_eq!(in_text(text, "jobs"), None);
        assert_eq!(in_text("build.target = \"t\"", "target").as_deref(), Some("t"));
        assert_eq!(in_text("target = \"t\"\n[build]\ntarget = [\"t\"]", "target"), None);
    }
}

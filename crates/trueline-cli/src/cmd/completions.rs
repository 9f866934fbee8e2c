//! `trueline completions` and `trueline man`: shell completions and manual pages.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use clap::CommandFactory;
use clap_mangen::Man;
use trueline::view::file;

use crate::args::{Cli, CompletionsArgs, ManArgs};
use crate::output::{self, Written};

pub(crate) fn completions(args: &CompletionsArgs) -> ExitCode {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "trueline", &mut script);
    print(&script)
}

pub(crate) fn man(args: &ManArgs) -> Result<ExitCode, String> {
    let command = with_examples(Cli::command().disable_help_subcommand(true));
    let Some(directory) = &args.directory else {
        let mut page = Vec::new();
        Man::new(command).render(&mut page).map_err(|fault| format!("cannot generate the page: {fault}"))?;
        return Ok(print(&page));
    };
    write_pages(command, directory)
        .map_err(|fault| format!("{}: cannot write: {fault}; check the path", directory.display()))?;
    Ok(ExitCode::SUCCESS)
}

/// Moves the examples of a command to the end of its help, where manual pages have them.
fn with_examples(command: clap::Command) -> clap::Command {
    let behind: Vec<String> =
        command.get_before_help().into_iter().chain(command.get_after_help()).map(ToString::to_string).collect();
    command.after_help(behind.join("\n\n")).mut_subcommands(with_examples)
}

/// Writes a page for the program, and one for each command.
fn write_pages(mut command: clap::Command, directory: &Path) -> std::io::Result<()> {
    fs::create_dir_all(directory)?;
    // This does the same as `clap_mangen::generate_to`, except that a page is written to a
    // temporary file first, which then replaces the old page.
    command.build();
    let mut commands = vec![command];
    while let Some(mut command) = commands.pop() {
        commands.extend(
            command.get_subcommands_mut().filter(|command| !command.is_hide_set()).map(|command| command.clone()),
        );
        let page = Man::new(command);
        file::write_with(&directory.join(page.get_filename()), |out| page.render(out))?;
    }
    Ok(())
}

fn print(content: &[u8]) -> ExitCode {
    let written = output::stdout(|out| out.write_all(content));
    if written == Written::Failed { ExitCode::from(2) } else { ExitCode::SUCCESS }
}

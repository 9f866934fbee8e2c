//! `trueline view`: judges one history and draws it.

use std::process::ExitCode;

use super::check::{self, Judge, Judged, Wanted};
use super::picture::{self, Form};
use crate::args::ViewArgs;
use crate::input::find_inputs;
use crate::limits::Stage;
use crate::output::{self, Written};

pub(crate) fn run(args: &ViewArgs) -> ExitCode {
    match draw(args) {
        Ok(code) => code,
        Err(Some(fault)) => {
            output::error(fault);
            ExitCode::from(2)
        }
        Err(None) => ExitCode::from(2),
    }
}

/// What went wrong, unless that was said already.
fn draw(args: &ViewArgs) -> Result<ExitCode, Option<String>> {
    let ViewArgs { output, check: args } = args;
    let judge = Judge::new(args)?;
    let in_terminal = output.as_os_str() == "-";
    if !in_terminal {
        Form::of(output)?;
    }
    let (mut inputs, _) = find_inputs(&args.inputs);
    if inputs.len() != 1 {
        return Err(Some(format!("`trueline view` draws one history, and there are {} files; name one", inputs.len())));
    }
    let input = inputs.remove(0);
    if !in_terminal {
        input.refuse_as_output(Some(output))?;
    }
    let limits = judge.limits();
    // Nothing is drawn of what a limit kept from being read.
    let end = |judged: Judged| match check::write(&check::render(&judged, args, Wanted::Everything)) {
        Written::All | Written::ReaderGone | Written::Late if matches!(judged, Judged::Report(..)) => 3,
        _ => 2,
    };
    let judged = judge.judge(&input, Wanted::Everything, &limits, &end);
    let Judged::Report(_, Some(timeline)) = &judged else {
        return Ok(ExitCode::from(end(judged)));
    };
    let draw = || {
        if !in_terminal {
            return Ok(Err(picture::draw(output.clone(), timeline, args)?));
        }
        let mut text = format!("{}: {}\n", timeline.title, timeline.outcome.name());
        if let Some(reason) = &timeline.reason {
            text.push_str(&format!("  {reason}\n"));
        }
        Ok::<_, String>(Ok(text + &picture::in_terminal(timeline, args)))
    };
    let text = match limits.watch(Stage::Drawing, |kind| end(judged.cut(kind)), draw)? {
        Ok(text) => text,
        Err(drawn) => {
            drawn.write(args)?;
            return Ok(ExitCode::SUCCESS);
        }
    };
    match output::stdout(|out| out.write_all(text.as_bytes())) {
        Written::All | Written::ReaderGone => Ok(ExitCode::SUCCESS),
        Written::Late => Ok(ExitCode::from(3)),
        Written::Failed => Err(None),
    }
}

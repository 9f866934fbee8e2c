//! `trueline view`: judges one history and draws it.

use std::process::ExitCode;

use super::check::{self, Judge, Judged, Wanted};
use super::picture::{self, Form};
use crate::args::ViewArgs;
use crate::input::find_inputs;
use crate::limits::Stage;
use crate::output::{self, Written};

pub(crate) fn run(args: &ViewArgs) -> Result<ExitCode, String> {
    let ViewArgs { output, check: args } = args;
    if args.follow {
        return Err("--follow is for `trueline check`; leave it out, or use that command".to_owned());
    }
    let judge = Judge::new(args)?;
    let in_terminal = output.as_os_str() == "-";
    if !in_terminal {
        Form::of(output)?;
    }
    let (mut inputs, _) = find_inputs(&args.inputs);
    if inputs.len() != 1 {
        return Err(format!("`trueline view` draws one history, and there are {} files; name one", inputs.len()));
    }
    let input = inputs.remove(0);
    if !in_terminal {
        input.refuse_as_output(Some(output))?;
    }
    let limits = judge.limits();
    // If the history cannot be drawn, for example because a limit was reached, `end` prints the
    // report or the error.
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
    let written = output::stdout(|out| out.write_all(text.as_bytes()));
    Ok(ExitCode::from(match written {
        Written::All | Written::ReaderGone => 0,
        Written::Late => 3,
        Written::Failed => 2,
    }))
}

//! Tokens: the names of runs, with everything that is needed to repeat them.

use std::fmt;
use std::str::FromStr;

use super::calls::Calls;
use super::listing;
use crate::drive::Shape;

/// The name of a run: the source of its program, and how often its threads yield.
///
/// The program is the same whenever the run is repeated, but its schedule on real threads is not. So the run is
/// repeated many times.
///
/// ```
/// use trueline::test::Token;
///
/// let token: Token = "s2a.t2.o1-3.c16.f2.p1".parse().unwrap();
/// assert_eq!(token.to_string(), "s2a.t2.o1-3.c16.f2.p1");
/// ```
///
/// The token of an exploration also contains the schedule, so the repeated run is identical.
///
/// ```
/// # use trueline::test::Token;
/// let token: Token = "x0.c0.z3-1_17-0".parse().unwrap();
/// assert_eq!(token.scheduled.unwrap().schedule, "3-1_17-0");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Token {
    /// The source of the program.
    #[doc(hidden)]
    pub program: Source,
    /// The size of the run, and how often its threads yield.
    #[doc(hidden)]
    pub shape: Shape,
    /// The schedule, if the run was explored.
    #[doc(hidden)]
    pub scheduled: Option<Scheduled>,
}

/// The schedule of an explored run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Scheduled {
    /// The schedule, in its text form.
    #[doc(hidden)]
    pub schedule: String,
    /// The seed of the object's random choices, if they are not part of the schedule.
    #[doc(hidden)]
    pub choices: Option<u64>,
    /// The maximum number of spurious wake-ups of each thread.
    #[doc(hidden)]
    pub spurious: u32,
    /// Whether operations were executed one at a time.
    #[doc(hidden)]
    pub serial: bool,
}

/// The source of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Source {
    /// Generated from this seed.
    Seed(u64),
    /// The fixed program with this number.
    Fixed(u32),
    /// Chosen by the threads, with random numbers from this seed.
    Chosen(u64),
    /// A program from the list of all programs with the given numbers of calls.
    Listed {
        /// The numbers of calls.
        calls: Calls,
        /// The number of the program.
        number: u32,
    },
    /// The program, in the notation of [`Test::only`](super::Test::only).
    Given(std::sync::Arc<str>),
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shape { threads, operations: (fewest, most), chaos, few, phases } = self.shape;
        match &self.program {
            Source::Fixed(number) => write!(f, "x{number}.c{chaos}")?,
            Source::Chosen(seed) => write!(f, "w{seed:x}.t{threads}.o{fewest}-{most}.c{chaos}")?,
            Source::Given(program) => write!(f, "g{}.c{chaos}", listing::to_name(program))?,
            Source::Listed { calls: Calls { children, main }, number } => {
                f.write_str("q")?;
                children.iter().try_for_each(|calls| write!(f, "{calls}x"))?;
                write!(f, "{main}.n{number}")?;
            }
            Source::Seed(seed) => {
                write!(f, "s{seed:x}.t{threads}.o{fewest}-{most}.c{chaos}")?;
                if let Some(few) = few {
                    write!(f, ".f{few}")?;
                }
                write!(f, ".p{phases}")?;
            }
        }
        let Some(Scheduled { schedule, choices, spurious, serial }) = &self.scheduled else { return Ok(()) };
        if let Some(seed) = choices {
            write!(f, ".h{seed:x}")?;
        }
        if *spurious > 0 {
            write!(f, ".u{spurious}")?;
        }
        if *serial {
            write!(f, ".v1")?;
        }
        write!(f, ".z{schedule}")
    }
}

impl FromStr for Token {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let read = || -> Option<Self> {
            let mut shape = Shape { threads: 2, operations: (1, 1), chaos: 0, few: None, phases: 0 };
            let mut program = None;
            let (mut scheduled, mut is_scheduled) = (Scheduled::default(), false);
            for part in text.split('.') {
                let (kind, rest) = part.split_at_checked(1)?;
                match kind {
                    "s" => program = Some(Source::Seed(u64::from_str_radix(rest, 16).ok()?)),
                    "w" => program = Some(Source::Chosen(u64::from_str_radix(rest, 16).ok()?)),
                    "g" => program = Some(Source::Given(listing::from_name(rest)?.into())),
                    "x" => program = Some(Source::Fixed(rest.parse().ok()?)),
                    "t" => shape.threads = rest.parse().ok()?,
                    "o" => {
                        let (fewest, most) = rest.split_once('-')?;
                        shape.operations = (fewest.parse().ok()?, most.parse().ok()?);
                    }
                    "c" => shape.chaos = rest.parse().ok()?,
                    "f" => shape.few = Some(rest.parse().ok()?),
                    "p" => shape.phases = rest.parse().ok()?,
                    "q" => {
                        let calls: Vec<u32> = rest.split('x').map(|calls| calls.parse().ok()).collect::<Option<_>>()?;
                        let (main, children) = calls.split_last()?;
                        let calls = Calls { children: children.to_vec(), main: *main };
                        program = Some(Source::Listed { calls: calls.checked().ok()?, number: 0 });
                    }
                    "n" => match &mut program {
                        Some(Source::Listed { number, .. }) => *number = rest.parse().ok()?,
                        _ => return None,
                    },
                    "h" => scheduled.choices = Some(u64::from_str_radix(rest, 16).ok()?),
                    "u" => scheduled.spurious = rest.parse().ok()?,
                    "v" => scheduled.serial = rest == "1",
                    "z" => {
                        let is_known = |c: char| c.is_ascii_digit() || matches!(c, '-' | '_' | 'r');
                        (!rest.is_empty() && rest.chars().all(is_known)).then_some(())?;
                        rest.clone_into(&mut scheduled.schedule);
                        is_scheduled = true;
                    }
                    _ => return None,
                }
            }
            let is_sane = (1..=1000).contains(&shape.threads)
                && shape.operations.0 <= shape.operations.1
                && shape.operations.1 <= 1_000_000
                && shape.few != Some(0);
            let scheduled = is_scheduled.then_some(scheduled);
            program.filter(|_| is_sane).map(|program| Self { program, shape, scheduled })
        };
        read().ok_or_else(|| {
            format!("`{text}` does not name a run; copy the name from a report, such as s2a.t2.o1-3.c16.p1")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_come_back() {
        let shape = Shape { threads: 3, operations: (1, 25), chaos: 16, few: Some(2), phases: 4 };
        for shape in [shape, Shape { few: None, chaos: 0, ..shape }] {
            let token = Token { program: Source::Seed(u64::MAX), shape, scheduled: None };
            assert_eq!(token.to_string().parse(), Ok(token));
        }
        let fixed: Token = "x7.c16".parse().expect("the token is valid");
        assert_eq!((fixed.program, fixed.shape.chaos), (Source::Fixed(7), 16));
        for text in [
            "gpush_1=pop+pop=pop.c16",
            "x0.c0.z0",
            "gpop+pop.c0.z3-1",
            "q2x2x4.n3.z3-1_17-0",
            "q4x0.n0",
            "s1.t2.o1-2.c0.p0.hff.u2.v1.z1-1",
        ] {
            assert_eq!(text.parse::<Token>().expect("the token is valid").to_string(), text);
        }
        assert_eq!("w1f.t3.o2-5.c0".parse::<Token>().expect("the token is valid").to_string(), "w1f.t3.o2-5.c0");
    }

    #[test]
    fn others_are_refused() {
        for bad in [
            "",
            "s",
            "t2",
            "sxyz.t2",
            "s1.o5-2",
            "s1.t0",
            "s1.f0",
            "s1.q2",
            "é1",
            "s1.o1-99999999",
            "x0.z",
            "x0.z1+2",
            "gpop~9",
            "q",
            "q2",
            "qx2",
            "n1",
        ] {
            assert!(bad.parse::<Token>().is_err(), "{bad}");
        }
    }
}

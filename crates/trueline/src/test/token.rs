//! The name of a run: what is needed to make it again.

use std::fmt;
use std::str::FromStr;

use crate::drive::Shape;

/// The name of a run: where its program came from, and how it was disturbed.
///
/// The program is the same whenever it is run; what real threads make of it is not, so that it is run often.
///
/// ```
/// use trueline::test::Token;
///
/// let token: Token = "s2a.t2.o1-3.c16.f2.p1".parse().unwrap();
/// assert_eq!(token.to_string(), "s2a.t2.o1-3.c16.f2.p1");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// Where the program came from.
    pub program: Source,
    /// How large the run was, and how disturbed.
    pub shape: Shape,
}

/// Where a program came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// From random numbers.
    Seed(u64),
    /// It is the fixed program of this number.
    Fixed(u32),
    /// Threads chose, with random numbers from this seed.
    Chosen(u64),
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shape { threads, operations: (fewest, most), chaos, few, phases } = self.shape;
        match self.program {
            Source::Fixed(number) => return write!(f, "x{number}.c{chaos}"),
            Source::Chosen(seed) => return write!(f, "w{seed:x}.t{threads}.o{fewest}-{most}.c{chaos}"),
            Source::Seed(seed) => write!(f, "s{seed:x}.t{threads}.o{fewest}-{most}.c{chaos}")?,
        }
        if let Some(few) = few {
            write!(f, ".f{few}")?;
        }
        write!(f, ".p{phases}")
    }
}

impl FromStr for Token {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let read = || -> Option<Self> {
            let mut shape = Shape { threads: 2, operations: (1, 1), chaos: 0, few: None, phases: 0 };
            let mut program = None;
            for part in text.split('.') {
                let (kind, rest) = part.split_at_checked(1)?;
                match kind {
                    "s" => program = Some(Source::Seed(u64::from_str_radix(rest, 16).ok()?)),
                    "w" => program = Some(Source::Chosen(u64::from_str_radix(rest, 16).ok()?)),
                    "x" => program = Some(Source::Fixed(rest.parse().ok()?)),
                    "t" => shape.threads = rest.parse().ok()?,
                    "o" => {
                        let (fewest, most) = rest.split_once('-')?;
                        shape.operations = (fewest.parse().ok()?, most.parse().ok()?);
                    }
                    "c" => shape.chaos = rest.parse().ok()?,
                    "f" => shape.few = Some(rest.parse().ok()?),
                    "p" => shape.phases = rest.parse().ok()?,
                    _ => return None,
                }
            }
            let is_sane = (1..=1000).contains(&shape.threads)
                && shape.operations.0 <= shape.operations.1
                && shape.operations.1 <= 1_000_000
                && shape.few != Some(0);
            program.filter(|_| is_sane).map(|program| Self { program, shape })
        };
        read()
            .ok_or_else(|| format!("`{text}` does not name a run; copy it from the report, such as s2a.t2.o1-3.c16.p1"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_come_back() {
        let shape = Shape { threads: 3, operations: (1, 25), chaos: 16, few: Some(2), phases: 4 };
        for shape in [shape, Shape { few: None, chaos: 0, ..shape }] {
            let token = Token { program: Source::Seed(u64::MAX), shape };
            assert_eq!(token.to_string().parse(), Ok(token));
        }
        let fixed: Token = "x7.c16".parse().expect("a fixed program");
        assert_eq!((fixed.program, fixed.shape.chaos), (Source::Fixed(7), 16));
        assert_eq!("w1f.t3.o2-5.c0".parse::<Token>().expect("chosen").to_string(), "w1f.t3.o2-5.c0");
    }

    #[test]
    fn others_are_refused() {
        for bad in ["", "s", "t2", "sxyz.t2", "s1.o5-2", "s1.t0", "s1.f0", "s1.q2", "é1", "s1.o1-99999999"] {
            assert!(bad.parse::<Token>().is_err(), "{bad}");
        }
    }
}

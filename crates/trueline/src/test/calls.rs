//! Programs with a given number of calls.
//!
//! These are the test programs of Zhang, Chattopadhyay and Wang: each child thread makes a given
//! number of calls. The main thread makes some calls before it starts the child threads, and some
//! after they are done. The programs are well formed: they have as many removals as insertions. So
//! no value remains after a serial execution. If a value remained, an execution with reordered
//! operations could return this value instead of another one (section V.D of the paper).

use std::fmt;
use std::str::FromStr;

/// The number of calls of each child thread, and of the main thread.
///
/// ```
/// use trueline::test::Calls;
///
/// let calls: Calls = "2*2+4".parse().unwrap();
/// assert_eq!((calls.children.as_slice(), calls.main), (&[2, 2][..], 4));
/// assert_eq!(calls.to_string(), "2*2+4");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Calls {
    /// The number of calls of each child thread.
    pub children: Vec<u32>,
    /// The number of calls of the main thread: insertions, which it makes before it starts the
    /// children, and removals, most of which it makes after the children are done.
    pub main: u32,
}

impl Calls {
    /// Checks that the numbers are within limits.
    ///
    /// # Errors
    /// Fails if there are no children, or too many children or calls.
    pub(super) fn checked(self) -> Result<Self, String> {
        let is_sane = (1..=16).contains(&self.children.len())
            && self.children.iter().all(|calls| (1..=1000).contains(calls))
            && self.main <= 1000;
        if is_sane {
            Ok(self)
        } else {
            Err("there must be 1 to 16 children with 1 to 1000 calls each, and at most 1000 calls by the main thread"
                .to_owned())
        }
    }
}

impl fmt::Display for Calls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, calls) in self.children.iter().enumerate() {
            let separator = if number == 0 { "" } else { "*" };
            write!(f, "{separator}{calls}")?;
        }
        write!(f, "+{}", self.main)
    }
}

impl FromStr for Calls {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (children, main) = text.split_once('+').unwrap_or((text, "0"));
        let number = |text: &str| text.trim().parse::<u32>().map_err(|_| hint());
        let children: Vec<u32> = children.split('*').map(number).collect::<Result<_, _>>()?;
        Self { children, main: number(main)? }.checked()
    }
}

fn hint() -> String {
    "write the number of calls of each child thread, separated by `*`, then `+` and the number of calls of the main thread, such as 2*2+4".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_numbers_of_calls_are_refused() {
        for bad in ["", "+", "2*", "2*2+", "0*2", "2*2+4+1", "-1*2", "9999*1"] {
            assert!(bad.parse::<Calls>().is_err(), "{bad}");
        }
        assert_eq!("3".parse(), Ok(Calls { children: vec![3], main: 0 }));
    }
}

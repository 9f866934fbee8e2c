//! Converts the times of logs to whole nanoseconds: numbers with a unit, numbers in texts, and ISO 8601 dates.

use super::super::super::Value;
use super::super::field::{Parsed, Unfit, quoted};

/// The unit of times that are numbers. `Unit(n)` stands for 10^n nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unit(u32);

impl Unit {
    pub(super) fn new(name: &str) -> Result<Self, String> {
        match name {
            "s" => Ok(Self(9)),
            "ms" => Ok(Self(6)),
            "us" | "µs" => Ok(Self(3)),
            "ns" => Ok(Self(0)),
            name => Err(format!("`{}` is not a unit of time; write s, ms, us or ns", quoted(name))),
        }
    }
}

/// Converts a time to an integer: to nanoseconds if it has a unit or is a date, and unchanged otherwise.
pub(super) fn read(found: &Parsed, unit: Option<Unit>) -> Result<Parsed, String> {
    Ok(match (found, unit) {
        (Ok(Value::Int(time)), Some(Unit(power))) => whole(time.checked_mul(10_i64.pow(power))),
        (Err(Unfit::Fraction(time)), Some(Unit(power))) => {
            // Rust formats a floating-point number as the shortest decimal that parses to this
            // number. If the number has at most 15 digits in the file, this decimal is the one in
            // the file, so no digit is lost.
            whole(decimal(&time.to_string(), power).unwrap_or_default())
        }
        (Ok(Value::Text(text)), unit) => match decimal(text, unit.map_or(0, |Unit(power)| power)) {
            Some(_) if unit.is_none() && text.contains('.') => {
                return Err(format!("the time `{}` is a fraction; give its unit, such as unit = \"s\"", quoted(text)));
            }
            Some(time) => whole(time),
            None => match date(text.trim()) {
                Some(time) => whole(i64::try_from(time).ok()),
                None => {
                    return Err(format!(
                        "`{}` is neither a number nor an ISO 8601 time such as 2026-01-31T08:15:00.25Z; correct the \
                         mapping",
                        quoted(text)
                    ));
                }
            },
        },
        (found, _) => found.clone(),
    })
}

fn whole(time: Option<i64>) -> Parsed {
    time.map(Value::Int).ok_or(Unfit::Big(None))
}

/// Multiplies the decimal number in a text by 10^`power`, and rounds toward zero. Returns `None` if the text is not a
/// number, and `Some(None)` if the result does not fit in 64 bits.
#[expect(
    clippy::option_option,
    reason = "the outer `None` is for text that is not a number, the inner `None` for a number that does not fit"
)]
fn decimal(text: &str, power: u32) -> Option<Option<i64>> {
    let text = text.trim();
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text),
    };
    let (integer, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if integer.is_empty() || !is_digits(integer) || !is_digits(fraction) || digits.ends_with('.') {
        return None;
    }
    let scaled = || {
        let mut value: i64 = 0;
        let digits = integer.bytes().chain((0..power as usize).map(|at| *fraction.as_bytes().get(at).unwrap_or(&b'0')));
        for digit in digits {
            value = value.checked_mul(10)?.checked_add(i64::from(digit - b'0') * sign)?;
        }
        Some(value)
    };
    Some(scaled())
}

/// Returns the number of nanoseconds from the beginning of 1970 to an ISO 8601 date with a time of day. A date without
/// a time zone is in UTC.
fn date(text: &str) -> Option<i128> {
    let number = |part: &str, digits: usize| {
        let is_number = part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| part.parse::<i64>().ok()).flatten()
    };
    let (day, time) = text.split_once(['T', 't', ' '])?;
    let mut parts = day.split('-');
    let (year, month, day) = (number(parts.next()?, 4)?, number(parts.next()?, 2)?, number(parts.next()?, 2)?);
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let longest = match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if parts.next().is_some() || !(1..=longest).contains(&day) {
        return None;
    }
    let zone = time.find(['Z', 'z', '+', '-']).unwrap_or(time.len());
    let (clock, zone) = time.split_at(zone);
    let offset = match zone.as_bytes() {
        [] | [b'Z' | b'z'] => 0,
        [sign @ (b'+' | b'-'), ..] => {
            let digits: String = zone[1..].split(':').collect();
            let digits = if digits.len() == 2 { digits + "00" } else { digits };
            let (hours, minutes) = (number(digits.get(..2)?, 2)?, number(digits.get(2..)?, 2)?);
            (hours * 60 + minutes) * if *sign == b'-' { -60 } else { 60 }
        }
        _ => return None,
    };
    let (clock, fraction) = clock.split_once(['.', ',']).unwrap_or((clock, ""));
    let mut parts = clock.split(':');
    let (hours, minutes) = (number(parts.next()?, 2)?, number(parts.next()?, 2)?);
    let seconds = parts.next().map_or(Some(0), |part| number(part, 2))?;
    // Second 60 of a minute is a leap second.
    if parts.next().is_some() || hours > 24 || minutes > 59 || seconds > 60 {
        return None;
    }
    let nanoseconds = match fraction {
        "" => 0,
        digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            let digits: String = digits.chars().chain("000000000".chars()).take(9).collect();
            number(&digits, 9)?
        }
        _ => return None,
    };
    // Days since 1970-01-01, computed in years that begin in March, so that a leap day is the last day of its year.
    let (years, months) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * years + years.div_euclid(4) - years.div_euclid(100)
        + years.div_euclid(400)
        + (153 * months + 2) / 5
        + day
        - 1
        - 719_468;
    let seconds = i128::from(days * 86_400 + hours * 3_600 + minutes * 60 + seconds - offset);
    Some(seconds * 1_000_000_000 + i128::from(nanoseconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(time: &str, unit: Option<&str>) -> Result<Parsed, String> {
        read(&Ok(time.into()), unit.map(|unit| Unit::new(unit).expect("a unit")))
    }

    #[test]
    fn dates() {
        // The expected seconds are the output of `date -u -d .. +%s`.
        for (date, seconds) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2000-02-29T12:00:00Z", 951_825_600),
            ("2026-11-18T02:18:18Z", 1_794_968_298),
            ("2026-11-18T02:18:18+01:00", 1_794_964_698),
            ("2026-11-18 02:18:18-0130", 1_794_973_698),
            ("2026-11-18T02:18", 1_794_968_280),
            ("1969-12-31T23:59:59Z", -1),
            ("2100-03-01T00:00:00Z", 4_107_542_400),
        ] {
            assert_eq!(text(date, None), Ok(Ok(Value::Int(seconds * 1_000_000_000))), "{date}");
        }
        assert_eq!(text("1970-01-01T00:00:00.123456789Z", None), Ok(Ok(Value::Int(123_456_789))));
        assert_eq!(text("1970-01-01T00:00:01,5Z", None), Ok(Ok(Value::Int(1_500_000_000))));
        for wrong in [
            "",
            "yesterday",
            "2026-13-01T00:00:00Z",
            "2026-02-30T00:00:00Z",
            "2026-01-01",
            "2026-01-01T25:00",
            "2026-01-01T00:00:00Y",
            "2026-01-01T00:00:00+1",
            "2026-01-01T00:00:00.x",
        ] {
            assert!(text(wrong, None).is_err(), "{wrong}");
        }
        assert_eq!(text("9999-01-01T00:00:00Z", None), Ok(Err(Unfit::Big(None))), "beyond 64 bits");
    }

    #[test]
    fn numbers_and_units() {
        assert_eq!(text("1544712660000000000", None), Ok(Ok(Value::Int(1_544_712_660_000_000_000))));
        assert_eq!(text("-5", None), Ok(Ok(Value::Int(-5))));
        assert_eq!(text("1.5", Some("s")), Ok(Ok(Value::Int(1_500_000_000))));
        assert_eq!(text("1700000000.123456789", Some("s")), Ok(Ok(Value::Int(1_700_000_000_123_456_789))));
        assert!(text("1.5", None).is_err());
        assert!(Unit::new("h").is_err());
        let number = |found, unit| read(&found, Some(Unit::new(unit).expect("a unit")));
        assert_eq!(number(Ok(Value::Int(7)), "us"), Ok(Ok(Value::Int(7_000))));
        assert_eq!(
            number(Err(Unfit::Fraction(1_700_000_000.123_456)), "s"),
            Ok(Ok(Value::Int(1_700_000_000_123_456_000)))
        );
        assert_eq!(number(Ok(Value::Int(i64::MAX)), "s"), Ok(Err(Unfit::Big(None))));
        assert_eq!(number(Err(Unfit::Fraction(-0.5)), "ms"), Ok(Ok(Value::Int(-500_000))));
        assert_eq!(read(&Ok(Value::Null), None), Ok(Ok(Value::Null)));
    }
}

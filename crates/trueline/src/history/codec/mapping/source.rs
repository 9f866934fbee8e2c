//! The sources of an operation's fields.

use serde_json::Value as Json;

use super::super::super::Value;
use super::super::field::{Names, Parsed, Unfit, quoted, shorten, wrong};
use super::super::json::{self, Node, Object};
use super::path::{Path, Place, Reached};
use super::time::{self, Unit};

/// The source of a field, and how its value is converted.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Source {
    from: From,
    /// The index of the word to select from a text, counted from 0.
    word: Option<usize>,
    kind: Option<ValueType>,
    unit: Option<Unit>,
    /// The path to a duration that is added to the time.
    plus: Option<Path>,
    default: Option<Value>,
}

#[derive(Clone, Debug, PartialEq)]
enum From {
    Path(Path),
    Constant(Value),
    /// The list of the values of several sources.
    List(Vec<Source>),
    /// The values of several sources, joined into one text with this separator.
    Joined(Vec<Source>, String),
    /// The value of the first source whose value exists and is not null.
    First(Vec<Source>),
}

/// The type that a value is converted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ValueType {
    Text,
    Integer,
    Boolean,
    /// Any type: the text is parsed as JSON.
    Json,
}

/// The notation of values in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Values {
    /// Values are written as in JSON.
    #[default]
    Plain,
    /// All values are texts, as in the cells of a table: a text that looks like a number, a boolean, null or a list is
    /// read as that value.
    Text,
    /// Each value is an object that names its type, as in OpenTelemetry: `{"intValue":"5"}`.
    Otlp,
    /// The values are the cells of a table with typed columns, in which a null cell means that
    /// there is no value.
    #[cfg(feature = "_columns")]
    Typed,
}

impl Values {
    /// Returns whether every row has a cell for every field. In such rows, null means that the
    /// field is absent.
    pub(super) fn has_cells(self) -> bool {
        match self {
            Self::Text => true,
            #[cfg(feature = "_columns")]
            Self::Typed => true,
            Self::Plain | Self::Otlp => false,
        }
    }

    pub(super) fn new(name: &str) -> Result<Self, String> {
        match name {
            "plain" => Ok(Self::Plain),
            "text" => Ok(Self::Text),
            "otlp" => Ok(Self::Otlp),
            name => Err(format!("`values` must be plain, text or otlp, not `{}`", quoted(name))),
        }
    }

    pub(super) fn read(self, found: Reached<'_>) -> Parsed {
        match (self, found) {
            (Self::Otlp, Reached::Node(Node::Object(object))) => any_value(object),
            (Self::Text, found) => match found.value() {
                Ok(Value::Text(text)) => Ok(cell_value(&text)),
                value => value,
            },
            (_, found) => found.value(),
        }
    }
}

/// Returns the value of a cell. A cell that looks like a value of another type, such as a number, is read as a text
/// only if it is quoted as in JSON.
fn cell_value(text: &str) -> Value {
    if text.is_empty() { Value::Null } else { text.parse().unwrap_or_else(|_| text.into()) }
}

/// Reads an `AnyValue` of OpenTelemetry's protocol in JSON, where 64-bit integers are texts.
fn any_value(object: &Object) -> Parsed {
    let (name, node) = match object.fields() {
        [] => return Ok(Value::Null),
        [(name, node)] => (name, node),
        _ => return Err(Unfit::Object),
    };
    match (&**name, node) {
        ("intValue", Node::Value(Ok(Value::Text(digits)))) => {
            digits.parse().map(Value::Int).map_err(|_| Unfit::Big(Some(digits.clone())))
        }
        ("stringValue" | "boolValue" | "intValue" | "doubleValue" | "bytesValue", Node::Value(value)) => value.clone(),
        ("arrayValue", Node::Object(array)) => match array.get("values") {
            None => Ok(Value::List([].into())),
            Some(Node::List(nodes)) => nodes.iter().map(|node| Values::Otlp.read(Reached::Node(node))).collect(),
            Some(Node::Value(value)) => value.clone(),
            Some(Node::Object(_)) => Err(Unfit::Object),
        },
        _ => Err(Unfit::Object),
    }
}

impl Source {
    /// Creates the source that an entry of a mapping describes, for trueline's field `ours`.
    pub(super) fn new(ours: &str, entry: &Json) -> Result<Self, String> {
        let plain = |from| Self { from, word: None, kind: None, unit: None, plus: None, default: None };
        let wrong = || {
            format!(
                "`{ours}` must be the name of a field, such as {ours} = \"name\", a list of them, or a table such as {{ from = \"name\", default = 0 }} or {{ const = 0 }}"
            )
        };
        let several = |entry: &Json| -> Result<Vec<Self>, String> {
            let items = entry.as_array().filter(|items| !items.is_empty()).ok_or_else(wrong)?;
            items.iter().map(|item| Self::new(ours, item)).collect()
        };
        let table = match entry {
            Json::String(text) => return Ok(plain(From::Path(Path::new(text)?))),
            Json::Array(_) => return several(entry).map(|sources| plain(From::List(sources))),
            Json::Object(table) => table,
            _ => return Err(wrong()),
        };
        let text = |name: &str, entry: &Json| {
            entry.as_str().map(str::to_owned).ok_or_else(|| format!("`{name}` in `{ours}` must be a string"))
        };
        let mut source: Option<Self> = None;
        let mut join = None;
        let (mut word, mut kind, mut unit, mut plus, mut default) = (None, None, None, None, None);
        for (name, entry) in table {
            match name.as_str() {
                "from" | "const" | "first" if source.is_some() => {
                    return Err(format!("`{ours}` has two of `from`, `const` and `first`; keep one of them"));
                }
                "from" => source = Some(Self::new(ours, entry)?),
                "first" => source = Some(plain(From::First(several(entry)?))),
                "const" => source = Some(plain(From::Constant(constant(ours, entry)?))),
                "join" => join = Some(text(name, entry)?),
                "default" => default = Some(constant(ours, entry)?),
                "unit" => unit = Some(Unit::new(&text(name, entry)?)?),
                "plus" => plus = Some(Path::new(&text(name, entry)?)?),
                "word" => {
                    let number = entry.as_u64().and_then(|number| usize::try_from(number).ok());
                    word = Some(number.ok_or_else(|| format!("`word` in `{ours}` must be a number, 0 or larger"))?);
                }
                "as" => {
                    kind = Some(match text(name, entry)?.as_str() {
                        "text" => ValueType::Text,
                        "int" => ValueType::Integer,
                        "bool" => ValueType::Boolean,
                        "json" => ValueType::Json,
                        other => {
                            return Err(format!(
                                "`{}` is not a kind of value; write text, int, bool or json",
                                quoted(other)
                            ));
                        }
                    });
                }
                other => {
                    return Err(format!(
                        "`{}` in `{ours}` is not an option; the options are from, const, first, join, as, word, unit, \
                         plus and default",
                        quoted(other)
                    ));
                }
            }
        }
        // A table without `from`, `first` and `const` does not specify a value.
        let mut source = source.ok_or_else(wrong)?;
        if let Some(join) = join {
            source.from = match source.from {
                From::List(sources) => From::Joined(sources, join),
                _ => return Err(format!("`join` in `{ours}` needs a list; write from = [\"a\", \"b\"]")),
            };
        }
        if (unit.is_some() || plus.is_some()) && !matches!(ours, "call" | "return" | "time") {
            return Err(format!("`unit` and `plus` are for times (call, return, time), and `{ours}` is not one"));
        }
        Ok(Self { word, kind, unit, plus, default, ..source })
    }

    /// Returns the source of a field that has the same name in the record as in trueline's format.
    pub(super) fn same_name(name: &str) -> Self {
        let path = Path::new(name).expect("the names of trueline's fields are valid paths");
        Self { from: From::Path(path), word: None, kind: None, unit: None, plus: None, default: None }
    }

    /// Returns whether the value is the first one that is not null.
    pub(super) fn is_first(&self) -> bool {
        matches!(self.from, From::First(_))
    }

    /// Returns the name of the source, for messages.
    pub(super) fn name(&self) -> String {
        match &self.from {
            From::Path(path) => path.name(),
            From::Constant(value) => shorten(value.to_string()),
            From::List(sources) | From::Joined(sources, _) | From::First(sources) => {
                let names: Vec<String> = sources.iter().map(Self::name).collect();
                shorten(names.join(", "))
            }
        }
    }

    /// Returns the value in a record, or the reason why the value cannot be used. Returns `None` if
    /// the value does not exist and the source has no default.
    pub(super) fn find(&self, place: Place<'_>, values: Values) -> Result<Option<Parsed>, String> {
        let found = match &self.from {
            From::Path(path) => path.find(place).map(|found| values.read(found)),
            From::Constant(value) => Some(Ok(value.clone())),
            From::List(sources) => {
                let items = sources.iter().map(|source| Ok(source.find(place, values)?.unwrap_or(Ok(Value::Null))));
                let items = items.collect::<Result<Vec<Parsed>, String>>()?;
                Some(items.into_iter().collect::<Result<Value, Unfit>>())
            }
            From::Joined(sources, between) => {
                let mut texts = Vec::new();
                for source in sources {
                    match source.find(place, values)? {
                        Some(Ok(Value::Text(text))) => texts.push(text.to_string()),
                        Some(Ok(Value::Null)) | None => texts.push(String::new()),
                        Some(Ok(value)) => texts.push(value.to_string()),
                        Some(Err(unfit)) => return Err(unfit.message(&source.name())),
                    }
                }
                Some(Ok(Value::Text(texts.join(between).into())))
            }
            From::First(sources) => {
                let mut first = None;
                for source in sources {
                    first = source.find(place, values)?;
                    if first.as_ref().is_some_and(|found| *found != Ok(Value::Null)) {
                        break;
                    }
                }
                first
            }
        };
        let found = match (found, self.word) {
            (Some(Ok(Value::Text(text))), Some(word)) => {
                text.split_whitespace().nth(word).map(|word| Ok(Value::from(word)))
            }
            (found, _) => found,
        };
        let found = match (found, self.kind) {
            (Some(found), Some(kind)) => Some(kind.read(&self.name(), found)?),
            (found, _) => found,
        };
        Ok(match (&self.default, found) {
            (Some(default), None | Some(Ok(Value::Null))) => Some(Ok(default.clone())),
            (_, found) => found,
        })
    }

    /// Returns the time in a record, or `None` if the record has no time.
    pub(super) fn find_time(
        &self,
        place: Place<'_>,
        values: Values,
        unit: Option<Unit>,
    ) -> Result<Option<Parsed>, String> {
        let unit = self.unit.or(unit);
        if let (Self { word: None, kind: None, plus: None, default, .. }, From::First(sources)) = (self, &self.from) {
            // Each source may have its own unit, and its own duration to add.
            for source in sources {
                match source.find_time(place, values, unit)? {
                    None | Some(Ok(Value::Null)) => {}
                    found => return Ok(found),
                }
            }
            return default.clone().map(|default| time::read(&Ok(default), unit)).transpose();
        }
        let Some(found) = self.find(place, values)? else { return Ok(None) };
        let start = time::read(&found, unit)?;
        let Some(path) = &self.plus else { return Ok(Some(start)) };
        let Some(plus) = path.find(place) else { return Ok(None) };
        match (start, time::read(&values.read(plus), unit)?) {
            (Ok(Value::Int(start)), Ok(Value::Int(duration))) => {
                Ok(Some(start.checked_add(duration).map(Value::Int).ok_or(Unfit::Big(None))))
            }
            (Ok(Value::Int(_)), Ok(Value::Null)) => Ok(None),
            (Ok(Value::Int(_)), found) => Err(wrong(&path.name(), &found, "a duration", "correct the mapping")),
            (start, _) => Ok(Some(start)),
        }
    }
}

impl ValueType {
    fn read(self, name: &str, found: Parsed) -> Result<Parsed, String> {
        let refused = |found: &Parsed, expected| Err(wrong(name, found, expected, "correct the mapping"));
        Ok(match (self, found) {
            (_, Ok(Value::Null)) => Ok(Value::Null),
            (Self::Text, Ok(Value::Text(text))) => Ok(Value::Text(text)),
            (Self::Text, Ok(value)) => Ok(Value::Text(value.to_string().into())),
            (Self::Text, Err(Unfit::Fraction(number))) => Ok(Value::Text(number.to_string().into())),
            (Self::Text, Err(Unfit::Big(Some(digits)))) => Ok(Value::Text(digits)),
            (Self::Integer, Ok(Value::Int(int))) => Ok(Value::Int(int)),
            (Self::Integer, Ok(Value::Bool(value))) => Ok(Value::Int(value.into())),
            (Self::Integer, Ok(Value::Text(text))) => match text.trim().parse() {
                Ok(int) => Ok(Value::Int(int)),
                Err(_) => return refused(&Ok(Value::Text(text)), "an integer"),
            },
            (Self::Boolean, Ok(value)) => match &value {
                Value::Bool(_) => Ok(value),
                Value::Int(0) => Ok(Value::Bool(false)),
                Value::Int(1) => Ok(Value::Bool(true)),
                Value::Text(text) if text.eq_ignore_ascii_case("true") => Ok(Value::Bool(true)),
                Value::Text(text) if text.eq_ignore_ascii_case("false") => Ok(Value::Bool(false)),
                _ => return refused(&Ok(value), "true or false"),
            },
            (Self::Json, Ok(Value::Text(text))) => match json::value(&text, &mut Names::default()) {
                Ok(value) => value,
                Err(_) => return refused(&Ok(Value::Text(text)), "JSON"),
            },
            (Self::Json, found) => found,
            (_, found) => return refused(&found, "a plain value"),
        })
    }
}

/// Reads a constant of a mapping. TOML does not have null, so an empty table is null.
fn constant(ours: &str, entry: &Json) -> Result<Value, String> {
    let wrong = || {
        format!(
            "the constant of `{ours}` must be a boolean, an integer, a string, a list of these, or an empty table \
             {{}} for null"
        )
    };
    match entry {
        Json::Null => Ok(Value::Null),
        Json::Object(table) if table.is_empty() => Ok(Value::Null),
        Json::Bool(value) => Ok(Value::Bool(*value)),
        Json::Number(number) => number.as_i64().map(Value::Int).ok_or_else(wrong),
        Json::String(text) => Ok(Value::from(text.as_str())),
        Json::Array(items) => items.iter().map(|item| constant(ours, item)).collect(),
        Json::Object(_) => Err(wrong()),
    }
}

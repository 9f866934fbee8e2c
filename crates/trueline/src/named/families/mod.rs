//! How the operations of each specification are written in files.

use super::table::SpecInfo;
use super::{AnyFamily, Family, Options};
use crate::history::{ProcessId, Record, Value};
use crate::spec::{
    Bag, BagOp, BagRet, CasRegister, CasRegisterOp, CasRegisterRet, Map, MapOp, MapRet, Mutex, MutexOp, Queue, QueueOp,
    QueueRet, Register, RegisterOp, RegisterRet, Set, SetOp, SetRet, Stack, StackOp, StackRet,
};

/// The family of a specification, with its parameter.
pub(super) fn family(info: &SpecInfo, parameter: Option<&str>, options: Options) -> Result<Box<dyn AnyFamily>, String> {
    let initial = || parameter.map_or(Ok(Value::Null), |parameter| initial_value(info.name, parameter));
    let wildcard = options.nil_wildcard;
    let family: Box<dyn AnyFamily> = match info.name {
        // Only the spec with compare-and-set knows the wildcard; the table keeps `cas` out of a plain register.
        "register" if wildcard => Box::new(CasRegisterFamily(CasRegister::new(initial()?).nil_wildcard(Value::Null))),
        "register" => Box::new(RegisterFamily(Register::new(initial()?))),
        "cas-register" if wildcard => {
            Box::new(CasRegisterFamily(CasRegister::new(initial()?).nil_wildcard(Value::Null)))
        }
        "cas-register" => Box::new(CasRegisterFamily(CasRegister::new(initial()?))),
        "mutex" => match parameter {
            None => Box::new(MutexFamily { spec: Mutex::new(), owned: false }),
            Some("owned") => Box::new(MutexFamily { spec: Mutex::new(), owned: true }),
            Some(other) => return Err(format!("`mutex` has no form `{other}`; write mutex or mutex:owned")),
        },
        name => {
            if let Some(parameter) = parameter {
                return Err(format!("`{name}` takes no parameter, but got `{parameter}`; write {name}"));
            }
            match name {
                "set" => Box::new(SetFamily(Set::new())),
                "map" => Box::new(MapFamily(Map::new())),
                "queue" => Box::new(QueueFamily(Queue::new())),
                "stack" => Box::new(StackFamily(Stack::new())),
                "bag" => Box::new(BagFamily(Bag::new())),
                name => unreachable!("{name} is in the table, but has no family"),
            }
        }
    };
    Ok(family)
}

/// The initial value of a register, as people type it.
fn initial_value(spec: &str, text: &str) -> Result<Value, String> {
    Ok(match text {
        "" => return Err(format!("the initial value is missing after `{spec}:`; write {spec}:0, or {spec} for null")),
        "null" | "nil" => Value::Null,
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        _ => {
            if let Ok(int) = text.parse() {
                Value::Int(int)
            } else if let Some(open) = text.strip_prefix('"') {
                let inner = open.strip_suffix('"').filter(|inner| !inner.contains(['"', '\\']));
                Value::from(inner.ok_or_else(|| {
                    format!("the initial value {text} is no plain string; close the quote, and do without escapes")
                })?)
            } else if text.starts_with(['[', '{']) {
                return Err(format!(
                    "the initial value {text} is neither a number nor text; write {spec}:0 or {spec}:abc"
                ));
            } else {
                Value::from(text)
            }
        }
    })
}

/// The names in the table and in the families must agree; a test holds them together.
fn not_in_table(name: &str) -> ! {
    unreachable!("{name} is in the table, but its family does not read it")
}

fn record(f: &str, value: Value) -> Record {
    Record { f: f.into(), key: None, value }
}

fn pair(first: &Value, second: &Value) -> Value {
    [first.clone(), second.clone()].into_iter().collect()
}

/// What a result that says nothing is shown as.
const DONE: &str = "ok";

fn show_option(value: Option<&Value>) -> String {
    value.map_or_else(|| Value::Null.to_string(), Value::to_string)
}

fn without_key(record: &Record) -> Result<&Value, String> {
    match &record.key {
        None => Ok(&record.value),
        Some(_) => Err(format!(
            "{record} has a `key`, but this spec has no keys; call the field `object` if each key is an object of its own, or use the spec `map`"
        )),
    }
}

/// An element that goes into a container whose null means empty.
fn element(record: &Record) -> Result<Value, String> {
    let value = without_key(record)?;
    if value.is_null() {
        return Err(format!(
            "`{}` has no element: its `value` is null or missing, and null means empty; give the element in `value`",
            record.f
        ));
    }
    Ok(value.clone())
}

/// The result of an operation that may fail elsewhere (a full queue, a lock not taken) but not here: anything but a
/// `false` that is not the argument said again.
fn done(record: &Record, result: &Value) -> Result<(), String> {
    if *result == Value::Bool(false) && record.value != *result {
        return Err(format!(
            "{record} returned false, but in this spec it always succeeds; log what did not happen as `fail`, or leave it out"
        ));
    }
    Ok(())
}

fn whether(record: &Record, result: &Value) -> Result<bool, String> {
    match result {
        Value::Bool(value) => Ok(*value),
        other => Err(format!(
            "{record} returned {}, but must return true or false; give that as the `result` of the return",
            brief(other)
        )),
    }
}

/// Whether a compare-and-set succeeded; logs often say its argument again when it did.
fn swapped(record: &Record, result: &Value) -> Result<bool, String> {
    if matches!(result, Value::List(_)) && *result == record.value { Ok(true) } else { whether(record, result) }
}

fn size(record: &Record, result: &Value) -> Result<usize, String> {
    result.as_int().and_then(|size| usize::try_from(size).ok()).ok_or_else(|| {
        format!(
            "{record} returned {}, but must return a number that is not negative; give that as the `result` of the return",
            brief(result)
        )
    })
}

fn brief(value: &Value) -> String {
    let mut text = value.to_string();
    if let Some((end, _)) = text.char_indices().nth(40) {
        text.truncate(end);
        text.push_str("...");
    }
    text
}

fn element_or_empty(result: &Value) -> Option<Value> {
    (!result.is_null()).then(|| result.clone())
}

/// `[old new]`.
fn old_and_new(record: &Record, value: &Value) -> Result<(Value, Value), String> {
    match value {
        Value::List(values) if values.len() == 2 => Ok((values[0].clone(), values[1].clone())),
        other => Err(format!(
            "`{}` has the argument {}, but needs a list of two, the old value and the new one; write \"value\":[1,2]",
            record.f,
            brief(other)
        )),
    }
}

#[derive(Debug)]
struct RegisterFamily(Register<Value>);

impl Family for RegisterFamily {
    type Spec = Register<Value>;

    fn spec(&self) -> &Self::Spec {
        &self.0
    }

    fn read_op(&self, name: &str, _: ProcessId, record: &Record) -> Result<RegisterOp<Value>, String> {
        let value = without_key(record)?;
        Ok(match name {
            "read" => RegisterOp::Read,
            "write" => RegisterOp::Write(value.clone()),
            name => not_in_table(name),
        })
    }

    fn read_ret(&self, _: &Record, op: &RegisterOp<Value>, result: &Value) -> Result<RegisterRet<Value>, String> {
        Ok(match op {
            RegisterOp::Read => RegisterRet::Value(result.clone()),
            RegisterOp::Write(_) => RegisterRet::Done,
        })
    }

    fn show_op(op: &RegisterOp<Value>) -> Record {
        match op {
            RegisterOp::Read => record("read", Value::Null),
            RegisterOp::Write(value) => record("write", value.clone()),
        }
    }

    fn show_ret(ret: &RegisterRet<Value>) -> String {
        match ret {
            RegisterRet::Value(value) => value.to_string(),
            RegisterRet::Done => DONE.to_owned(),
        }
    }
}

#[derive(Debug)]
struct CasRegisterFamily(CasRegister<Value>);

impl Family for CasRegisterFamily {
    type Spec = CasRegister<Value>;

    fn spec(&self) -> &Self::Spec {
        &self.0
    }

    fn read_op(&self, name: &str, _: ProcessId, record: &Record) -> Result<CasRegisterOp<Value>, String> {
        let value = without_key(record)?;
        Ok(match name {
            "read" => CasRegisterOp::Read,
            "write" => CasRegisterOp::Write(value.clone()),
            "cas" => {
                let (expected, new) = old_and_new(record, value)?;
                CasRegisterOp::Cas { expected, new }
            }
            name => not_in_table(name),
        })
    }

    fn read_ret(
        &self,
        record: &Record,
        op: &CasRegisterOp<Value>,
        result: &Value,
    ) -> Result<CasRegisterRet<Value>, String> {
        Ok(match op {
            CasRegisterOp::Read => CasRegisterRet::Value(result.clone()),
            CasRegisterOp::Write(_) => CasRegisterRet::Done,
            CasRegisterOp::Cas { .. } => CasRegisterRet::Swapped(swapped(record, result)?),
        })
    }

    fn show_op(op: &CasRegisterOp<Value>) -> Record {
        match op {
            CasRegisterOp::Read => record("read", Value::Null),
            CasRegisterOp::Write(value) => record("write", value.clone()),
            CasRegisterOp::Cas { expected, new } => record("cas", pair(expected, new)),
        }
    }

    fn show_ret(ret: &CasRegisterRet<Value>) -> String {
        match ret {
            CasRegisterRet::Value(value) => value.to_string(),
            CasRegisterRet::Done => DONE.to_owned(),
            CasRegisterRet::Swapped(swapped) => swapped.to_string(),
        }
    }
}

#[derive(Debug)]
struct SetFamily(Set<Value>);

impl Family for SetFamily {
    type Spec = Set<Value>;

    fn spec(&self) -> &Self::Spec {
        &self.0
    }

    fn read_op(&self, name: &str, _: ProcessId, record: &Record) -> Result<SetOp<Value>, String> {
        let value = without_key(record)?;
        Ok(match name {
            "add" => SetOp::Add(value.clone()),
            "remove" => SetOp::Remove(value.clone()),
            "contains" => SetOp::Contains(value.clone()),
            "size" => SetOp::Size,
            "clear" => SetOp::Clear,
            name => not_in_table(name),
        })
    }

    fn read_ret(&self, record: &Record, op: &SetOp<Value>, result: &Value) -> Result<SetRet, String> {
        Ok(match op {
            SetOp::Add(_) | SetOp::Remove(_) | SetOp::Contains(_) => SetRet::Bool(whether(record, result)?),
            SetOp::Size => SetRet::Size(size(record, result)?),
            SetOp::Clear => SetRet::Done,
        })
    }

    fn show_op(op: &SetOp<Value>) -> Record {
        match op {
            SetOp::Add(value) => record("add", value.clone()),
            SetOp::Remove(value) => record("remove", value.clone()),
            SetOp::Contains(value) => record("contains", value.clone()),
            SetOp::Size => record("size", Value::Null),
            SetOp::Clear => record("clear", Value::Null),
        }
    }

    fn show_ret(ret: &SetRet) -> String {
        match ret {
            SetRet::Bool(value) => value.to_string(),
            SetRet::Size(size) => size.to_string(),
            SetRet::Done => DONE.to_owned(),
        }
    }
}

#[derive(Debug)]
struct MapFamily(Map<Value, Value>);

/// The key and the rest of the argument.
///
/// Without the field `key`, the argument is `[key rest]`; of an operation that needs nothing but a key, it is the key,
/// or `[key null]` as Jepsen's independent tests have it.
fn key_and_rest(record: &Record, only_key: bool) -> Result<(Value, Value), String> {
    if let Some(key) = &record.key {
        return Ok((key.clone(), record.value.clone()));
    }
    if let Some((key, rest)) = tuple(&record.value) {
        if !only_key || rest.is_null() {
            return Ok((key.clone(), rest.clone()));
        }
    }
    if !only_key {
        return Err(format!(
            "`{}` has the argument {}, but needs a key too; give it in the field `key`, or write \"value\":[key, ..]",
            record.f,
            brief(&record.value)
        ));
    }
    if record.value.is_null() {
        return Err(format!("`{}` has no key; give it in the field `key` or in `value`", record.f));
    }
    Ok((record.value.clone(), Value::Null))
}

fn tuple(value: &Value) -> Option<(&Value, &Value)> {
    match value {
        Value::List(values) if values.len() == 2 => Some((&values[0], &values[1])),
        _ => None,
    }
}

/// A value that goes into a map, where null means absent.
fn present(record: &Record, value: Value) -> Result<Value, String> {
    if value.is_null() {
        return Err(format!(
            "{record} stores null, which means absent in a map; use `delete`, or write a string for it"
        ));
    }
    Ok(value)
}

/// A result of a map: the value alone, or `[key value]` if the key came that way.
fn value_or_absent(record: &Record, key: &Value, result: &Value) -> Option<Value> {
    let came_in_a_tuple = record.key.is_none() && tuple(&record.value).is_some_and(|(first, _)| first == key);
    match tuple(result) {
        Some((first, value)) if came_in_a_tuple && first == key => element_or_empty(value),
        _ => element_or_empty(result),
    }
}

impl Family for MapFamily {
    type Spec = Map<Value, Value>;

    fn spec(&self) -> &Self::Spec {
        &self.0
    }

    fn read_op(&self, name: &str, _: ProcessId, record: &Record) -> Result<MapOp<Value, Value>, String> {
        let only_key = || key_and_rest(record, true).map(|(key, _)| key);
        let key_and_value = || {
            let (key, value) = key_and_rest(record, false)?;
            Ok::<_, String>((key, present(record, value)?))
        };
        Ok(match name {
            "get" => MapOp::Get(only_key()?),
            "put" => {
                let (key, value) = key_and_value()?;
                MapOp::Put(key, value)
            }
            "delete" => MapOp::Delete(only_key()?),
            "get-or-insert" => {
                let (key, value) = key_and_value()?;
                MapOp::GetOrInsert(key, value)
            }
            "cas" => {
                let (key, expected, new) = match (&record.key, &record.value) {
                    (None, Value::List(values)) if values.len() == 3 => {
                        (values[0].clone(), values[1].clone(), values[2].clone())
                    }
                    _ => {
                        let (key, rest) = key_and_rest(record, false)?;
                        let (expected, new) = old_and_new(record, &rest)?;
                        (key, expected, new)
                    }
                };
                MapOp::Cas { key, expected: element_or_empty(&expected), new: present(record, new)? }
            }
            "insert" => {
                let (key, value) = key_and_value()?;
                MapOp::Insert(key, value)
            }
            "remove" => MapOp::Remove(only_key()?),
            "size" => MapOp::Size,
            "clear" => MapOp::Clear,
            name => not_in_table(name),
        })
    }

    fn read_ret(&self, record: &Record, op: &MapOp<Value, Value>, result: &Value) -> Result<MapRet<Value>, String> {
        Ok(match op {
            MapOp::Get(key) | MapOp::GetOrInsert(key, _) | MapOp::Insert(key, _) | MapOp::Remove(key) => {
                MapRet::Value(value_or_absent(record, key, result))
            }
            MapOp::Put(..) | MapOp::Delete(_) | MapOp::Clear => MapRet::Done,
            MapOp::Cas { .. } => MapRet::Swapped(swapped(record, result)?),
            MapOp::Size => MapRet::Size(size(record, result)?),
        })
    }

    fn show_op(op: &MapOp<Value, Value>) -> Record {
        let keyed = |f: &str, key: &Value, value: Value| Record { f: f.into(), key: Some(key.clone()), value };
        match op {
            MapOp::Get(key) => keyed("get", key, Value::Null),
            MapOp::Put(key, value) => keyed("put", key, value.clone()),
            MapOp::Delete(key) => keyed("delete", key, Value::Null),
            MapOp::GetOrInsert(key, value) => keyed("get-or-insert", key, value.clone()),
            MapOp::Cas { key, expected, new } => {
                keyed("cas", key, pair(expected.as_ref().unwrap_or(&Value::Null), new))
            }
            MapOp::Insert(key, value) => keyed("insert", key, value.clone()),
            MapOp::Remove(key) => keyed("remove", key, Value::Null),
            MapOp::Size => record("size", Value::Null),
            MapOp::Clear => record("clear", Value::Null),
        }
    }

    fn show_ret(ret: &MapRet<Value>) -> String {
        match ret {
            MapRet::Value(value) => show_option(value.as_ref()),
            MapRet::Done => DONE.to_owned(),
            MapRet::Swapped(swapped) => swapped.to_string(),
            MapRet::Size(size) => size.to_string(),
        }
    }
}

#[derive(Debug)]
struct QueueFamily(Queue<Value>);

impl Family for QueueFamily {
    type Spec = Queue<Value>;

    fn spec(&self) -> &Self::Spec {
        &self.0
    }

    fn read_op(&self, name: &str, _: ProcessId, record: &Record) -> Result<QueueOp<Value>, String> {
        without_key(record)?;
        Ok(match name {
            "enqueue" => QueueOp::Enqueue(element(record)?),
            "dequeue" => QueueOp::Dequeue,
            "peek" => QueueOp::Peek,
            name => not_in_table(name),
        })
    }

    fn read_ret(&self, record: &Record, op: &QueueOp<Value>, result: &Value) -> Result<QueueRet<Value>, String> {
        Ok(match op {
            QueueOp::Enqueue(_) => {
                done(record, result)?;
                QueueRet::Done
            }
            QueueOp::Dequeue | QueueOp::Peek => QueueRet::Value(element_or_empty(result)),
        })
    }

    fn show_op(op: &QueueOp<Value>) -> Record {
        match op {
            QueueOp::Enqueue(value) => record("enqueue", value.clone()),
            QueueOp::Dequeue => record("dequeue", Value::Null),
            QueueOp::Peek => record("peek", Value::Null),
        }
    }

    fn show_ret(ret: &QueueRet<Value>) -> String {
        match ret {
            QueueRet::Done => DONE.to_owned(),
            QueueRet::Value(value) => show_option(value.as_ref()),
        }
    }
}

#[derive(Debug)]
struct StackFamily(Stack<Value>);

impl Family for StackFamily {
    type Spec = Stack<Value>;

    fn spec(&self) -> &Self::Spec {
        &self.0
    }

    fn read_op(&self, name: &str, _: ProcessId, record: &Record) -> Result<StackOp<Value>, String> {
        without_key(record)?;
        Ok(match name {
            "push" => StackOp::Push(element(record)?),
            "pop" => StackOp::Pop,
            "top" => StackOp::Top,
            name => not_in_table(name),
        })
    }

    fn read_ret(&self, record: &Record, op: &StackOp<Value>, result: &Value) -> Result<StackRet<Value>, String> {
        Ok(match op {
            StackOp::Push(_) => {
                done(record, result)?;
                StackRet::Done
            }
            StackOp::Pop | StackOp::Top => StackRet::Value(element_or_empty(result)),
        })
    }

    fn show_op(op: &StackOp<Value>) -> Record {
        match op {
            StackOp::Push(value) => record("push", value.clone()),
            StackOp::Pop => record("pop", Value::Null),
            StackOp::Top => record("top", Value::Null),
        }
    }

    fn show_ret(ret: &StackRet<Value>) -> String {
        match ret {
            StackRet::Done => DONE.to_owned(),
            StackRet::Value(value) => show_option(value.as_ref()),
        }
    }
}

#[derive(Debug)]
struct MutexFamily {
    spec: Mutex,
    /// Whether the process that calls is the owner.
    owned: bool,
}

impl Family for MutexFamily {
    type Spec = Mutex;

    fn spec(&self) -> &Self::Spec {
        &self.spec
    }

    fn read_op(&self, name: &str, process: ProcessId, record: &Record) -> Result<MutexOp, String> {
        without_key(record)?;
        let by = self.owned.then_some(process.0);
        Ok(match name {
            "acquire" => MutexOp::Acquire { by },
            "release" => MutexOp::Release { by },
            name => not_in_table(name),
        })
    }

    fn read_ret(&self, record: &Record, op: &MutexOp, result: &Value) -> Result<(), String> {
        match op {
            MutexOp::Acquire { .. } => done(record, result),
            MutexOp::Release { .. } => Ok(()),
        }
    }

    fn show_op(op: &MutexOp) -> Record {
        match op {
            MutexOp::Acquire { .. } => record("acquire", Value::Null),
            MutexOp::Release { .. } => record("release", Value::Null),
        }
    }

    fn show_ret((): &()) -> String {
        DONE.to_owned()
    }
}

#[derive(Debug)]
struct BagFamily(Bag<Value>);

impl Family for BagFamily {
    type Spec = Bag<Value>;

    fn spec(&self) -> &Self::Spec {
        &self.0
    }

    fn read_op(&self, name: &str, _: ProcessId, record: &Record) -> Result<BagOp<Value>, String> {
        without_key(record)?;
        Ok(match name {
            "add" => BagOp::Add(element(record)?),
            "remove-any" => BagOp::RemoveAny,
            name => not_in_table(name),
        })
    }

    fn read_ret(&self, record: &Record, op: &BagOp<Value>, result: &Value) -> Result<BagRet<Value>, String> {
        Ok(match op {
            BagOp::Add(_) => {
                done(record, result)?;
                BagRet::Done
            }
            BagOp::RemoveAny => BagRet::Value(element_or_empty(result)),
        })
    }

    fn show_op(op: &BagOp<Value>) -> Record {
        match op {
            BagOp::Add(value) => record("add", value.clone()),
            BagOp::RemoveAny => record("remove-any", Value::Null),
        }
    }

    fn show_ret(ret: &BagRet<Value>) -> String {
        match ret {
            BagRet::Done => DONE.to_owned(),
            BagRet::Value(value) => show_option(value.as_ref()),
        }
    }
}

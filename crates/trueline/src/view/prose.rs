//! Arguments in words: why the operations of a core have no order.

use std::collections::HashSet;
use std::fmt::Display;

use super::timeline::visible;
use super::{Line, shorten};
use crate::history::{History, OpId};
use crate::verdict::{
    Argument, Before, Core, Count, Counted, End, Ground, NoPlace, ObjectKind, Place, Proof, Reason, Role,
};

/// Results that say nothing.
const SILENT: [&str; 3] = ["ok", "-", "()"];
/// How many operations are listed one by one.
const MOST_LISTED: usize = 8;

/// The argument about a core of `history`, sentence by sentence.
///
/// An operation is named with its process and place when it is first spoken of.
///
/// ```
/// use trueline::history::{History, Outcome};
/// use trueline::judge::{argument, shrink};
/// use trueline::spec::{Queue, QueueOp, QueueRet};
/// use trueline::view::prose;
///
/// let mut builder = History::builder();
/// for value in [1, 2] {
///     builder.call(0, QueueOp::Enqueue(value))?;
///     builder.ret(0, QueueRet::Done)?;
/// }
/// builder.call(1, QueueOp::Dequeue)?;
/// builder.ret(1, QueueRet::Value(Some(2)))?;
/// let (spec, history) = (Queue::new(), builder.finish());
/// let core = shrink::judge(&spec, &history, &shrink::Limits::new()).expect("2 was not first");
/// let argument = argument::of_core(&spec, &core).expect("it is small");
///
/// let show = |history: &History<QueueOp<i32>, QueueRet<i32>>| {
///     history.map(|operation| (format!("{:?}", operation.op), operation.outcome.map(|result| format!("{result:?}"))))
/// };
/// let sentences = prose::tell(&show(&history), &core.map(show), &argument.map(|result| format!("{result:?}")));
/// assert!(sentences[0].starts_with("Enqueue(1) of process 0 (events 0-1)"), "{}", sentences[0]);
/// # Ok::<(), trueline::history::HistoryError>(())
/// ```
pub fn tell<Op: Display, Ret: Display>(
    history: &History<Op, Ret>,
    core: &Core<Op, Ret>,
    argument: &Argument<Ret>,
) -> Vec<String> {
    let mut teller = Teller::new(history, core, argument.object);
    if let Some(first) = core.begins_behind {
        let stays = core.members.iter().any(|member| member.id == first);
        let name = teller.name(first);
        teller.say(if stays {
            format!("what returned before {name} was called does not matter, as it leaves the same state whatever was before it")
        } else {
            format!("what returned before {name} was called does not matter, as it leaves the state that there was at first")
        });
    }
    teller.tell_proof(&argument.proof, &mut Vec::new());
    teller.sentences
}

struct Teller {
    object: ObjectKind,
    /// The operations that have been named, and how they are named.
    labels: Vec<(OpId, Label)>,
    introduced: HashSet<OpId>,
    completed: HashSet<OpId>,
    sentences: Vec<String>,
    /// Put before each sentence, where cases are told.
    indent: String,
}

struct Label {
    short: String,
    is_unique: bool,
    place: String,
}

impl Teller {
    fn new<Op: Display, Ret: Display>(history: &History<Op, Ret>, core: &Core<Op, Ret>, object: ObjectKind) -> Self {
        let mut labels: Vec<(OpId, Label)> = Vec::new();
        let mut add = |id: OpId, operation: String, result: Option<String>| {
            let operation = shorten(&visible(&operation));
            let short = match result.map(|result| shorten(&visible(&result))) {
                Some(result) if !SILENT.contains(&result.as_str()) => format!("{operation} -> {result}"),
                _ => operation,
            };
            let line = Line::new(history, id, false);
            let place = format!("of process {} ({})", line.process, line.place);
            labels.push((id, Label { short, is_unique: true, place }));
        };
        for (member, left) in core.members.iter().zip(core.history.operations()) {
            add(member.id, left.op.to_string(), left.outcome.result().map(ToString::to_string));
        }
        if let Some(first) = core.begins_behind.filter(|first| core.members.iter().all(|member| member.id != *first)) {
            let operation = &history[first];
            add(first, operation.op.to_string(), operation.outcome.result().map(ToString::to_string));
        }
        for at in 0..labels.len() {
            let short = labels[at].1.short.clone();
            labels[at].1.is_unique = labels.iter().filter(|(_, other)| other.short == short).count() == 1;
        }
        let completed = core.members.iter().filter(|member| member.role == Role::Completed);
        Self {
            object,
            labels,
            introduced: HashSet::new(),
            completed: completed.map(|member| member.id).collect(),
            sentences: Vec::new(),
            indent: String::new(),
        }
    }

    /// The operation, with its place if that is not known yet or needed to tell it from others.
    fn name(&mut self, id: OpId) -> String {
        let is_new = self.introduced.insert(id);
        let Some((_, label)) = self.labels.iter().find(|(other, _)| *other == id) else {
            return format!("operation {}", id.0);
        };
        if is_new || !label.is_unique { format!("{} {}", label.short, label.place) } else { label.short.clone() }
    }

    fn names(&mut self, ids: &[OpId]) -> String {
        let more = ids.len().saturating_sub(MOST_LISTED);
        let mut names: Vec<String> = ids[..ids.len() - more].iter().map(|id| self.name(*id)).collect();
        if more > 0 {
            names.push(format!("{more} more"));
        }
        list(&names)
    }

    /// Says a sentence.
    fn say(&mut self, sentence: String) {
        self.sentences.push(format!("{}{sentence}.", self.indent));
    }

    fn tell_proof<Ret: Display>(&mut self, proof: &Proof<Ret>, claims: &mut Vec<Before>) {
        let known = claims.len();
        for step in &proof.steps {
            let Before { first, second } = step.claim;
            match &step.ground {
                Ground::RealTime => {
                    let (first, second) = (self.name(first), self.name(second));
                    self.say(format!("{first} returned before {second} was called"));
                }
                Ground::Value { reason, .. } => {
                    let why = self.reason(reason, first, second);
                    let claim = self.claim(step.claim, claims);
                    self.say(format!("{why}: so {claim}"));
                }
            }
            claims.push(step.claim);
        }
        match &proof.end {
            End::Circle(circle) => {
                let sentence = match circle.as_slice() {
                    [one] => format!("but {} cannot come before itself", self.name(*one)),
                    [one, other] => {
                        let (one, other) = (self.name(*one), self.name(*other));
                        format!("but {one} and {other} cannot each come before the other")
                    }
                    circle => {
                        let names = circle.iter().chain(&circle[..1]).map(|id| self.name(*id)).collect::<Vec<_>>();
                        format!("but that is a circle: {}", names.join(" before "))
                    }
                };
                self.say(sentence);
            }
            End::Impossible { op, reason, .. } => {
                let why = self.reason(reason, *op, *op);
                let name = self.name(*op);
                self.say(format!("{why}: so there is no place for {name}"));
            }
            End::Cases { assumed, yes, no } => {
                let Before { first, second } = *assumed;
                let reverse = Before { first: second, second: first };
                let outer = self.indent.clone();
                for (word, assumed, proof) in [("either", *assumed, yes), ("or", reverse, no)] {
                    let (first, second) = (self.name(assumed.first), self.name(assumed.second));
                    self.indent.clone_from(&outer);
                    self.say(format!("{word} {first} came before {second}"));
                    self.indent = format!("{outer}  ");
                    claims.push(assumed);
                    self.tell_proof(proof, claims);
                    claims.pop();
                }
                self.indent = outer;
            }
            End::NoPlace(none) => self.tell_places(none, ""),
        }
        claims.truncate(known);
    }

    /// That one came before the other, as far as that is so.
    fn claim(&mut self, claim: Before, claims: &[Before]) -> String {
        let Before { first, second } = claim;
        let mut certain = self.completed.clone();
        loop {
            let before = claims.iter().filter(|claim| certain.contains(&claim.second)).map(|claim| claim.first);
            let all: HashSet<OpId> = certain.iter().copied().chain(before).collect();
            if all.len() == certain.len() {
                break;
            }
            certain = all;
        }
        let (first, second_name) = (self.name(first), self.name(second));
        if certain.contains(&second) {
            format!("{first} came before {second_name}")
        } else {
            format!("{first} came before {second_name}, if that took effect")
        }
    }

    fn container(&self) -> &'static str {
        match self.object {
            ObjectKind::Queue => "the queue",
            ObjectKind::Stack => "the stack",
            ObjectKind::PriorityQueue => "the priority queue",
            ObjectKind::Bag => "the bag",
            _ => "the object",
        }
    }

    /// That an object is in one of these states.
    fn state(&self, needs: &[String]) -> String {
        let states = needs.iter().map(|state| shorten(&visible(state))).collect::<Vec<_>>().join(" or ");
        if needs.is_empty() {
            return "another state".to_owned();
        }
        match self.object {
            ObjectKind::Register => format!("the register to hold {states}"),
            ObjectKind::Set => format!("the set to be {states}"),
            ObjectKind::Map => format!("the map to be {states}"),
            ObjectKind::Lock | ObjectKind::ReadWriteLock => format!("the lock to be {states}"),
            ObjectKind::Semaphore => states,
            _ => format!("the state to be {states}"),
        }
    }

    /// Why something is so: what comes before "so".
    fn reason(&mut self, reason: &Reason, first: OpId, second: OpId) -> String {
        let container = self.container();
        match reason {
            Reason::Source => {
                let (put, taken) = (self.name(first), self.name(second));
                format!("{taken} got what {put} put in")
            }
            Reason::FirstInFirstOut { first_in, second_in } => {
                let (first, second) = (self.name(*first_in), self.name(*second_in));
                format!("{first} came before {second}, and a queue is first in, first out")
            }
            Reason::FirstOutFirstIn { first_out, second_out } => {
                let (first, second) = (self.name(*first_out), self.name(*second_out));
                format!("{first} came before {second}, and a queue is first in, first out")
            }
            Reason::InFront { put, own } => {
                let (put, own, op) = (self.name(*put), self.name(*own), self.name(first));
                format!("{put} came before {own}, so that its value was in front of the one that {op} got, and nothing took it out")
            }
            Reason::Empty { put } => {
                let (put, empty) = (self.name(*put), self.name(second));
                format!("{put} came before {empty}, which found {container} empty")
            }
            Reason::NotYetIn { taken } => {
                let (taken, empty, put) = (self.name(*taken), self.name(first), self.name(second));
                format!("{taken} got what {put} put in, after {empty} had found {container} empty")
            }
            Reason::StillIn { put } => {
                let (put, empty) = (self.name(*put), self.name(first));
                format!("{put} came before {empty}, which found {container} empty, and nothing took its value out")
            }
            Reason::OnTop { below, above } => {
                let (below, above, out) = (self.name(*below), self.name(*above), self.name(second));
                format!("{above} came between {below} and {out}, so that its value lay on top of the one that {out} got")
            }
            Reason::NotTakenOff { below, above } => {
                let (below, above, out) = (self.name(*below), self.name(*above), self.name(first));
                format!("{above} came between {below} and {out}, so that its value lay on top of the one that {out} got, and nothing took it off")
            }
            Reason::Below { top, later } => {
                let (top, later, below) = (self.name(*top), self.name(*later), self.name(first));
                format!("{top} got a value from the top between {below} and {later}, so that the value of {below} lay below it")
            }
            Reason::Lesser { put } => {
                let (put, out) = (self.name(*put), self.name(second));
                format!("{put} came before {out}, and its value goes before the one that {out} got")
            }
            Reason::LesserLater { taken } => {
                let (taken, out, put) = (self.name(*taken), self.name(first), self.name(second));
                format!("{taken} came behind {out}, and the value that it got from {put} goes before the one that {out} got")
            }
            Reason::LesserStillIn { put } => {
                let (put, out) = (self.name(*put), self.name(first));
                format!("{put} came before {out}, its value goes before the one that {out} got, and nothing took it out")
            }
            Reason::TakenTooOften { puts, takes } if puts.is_empty() => {
                format!("nothing put in what {} got", self.names(takes))
            }
            Reason::TakenTooOften { puts, takes } => {
                let (puts, takes) = (self.names(puts), self.names(takes));
                format!("{takes} all took out the same value, and only {puts} put it in")
            }
            Reason::OnlyMaker { needs, later } => {
                let (needs, maker, user) = (self.state(needs), self.name(first), self.name(second));
                let others = self.others(&[], later, user.as_str(), "");
                format!("{user} needs {needs}, which it was not at first, and only {maker} could make it so{others}")
            }
            Reason::MadeAgain { needs, undone, earlier, later } => {
                let (needs, undone, maker, user) =
                    (self.state(needs), self.name(*undone), self.name(first), self.name(second));
                let others = self.others(earlier, later, &user, &undone);
                format!("{undone} came before {user}, which needs {needs}, and then only {maker} could make it so again{others}")
            }
            Reason::Between { needs, user, earlier, later } => {
                let (needs, undone, maker, user) =
                    (self.state(needs), self.name(first), self.name(second), self.name(*user));
                let others = self.others(earlier, later, &user, &undone);
                format!("{undone} came before {user}, which needs {needs}, and then only {maker} could make it so again{others}")
            }
            Reason::Undone { needs, earlier, later } => {
                let (needs, user, spoiler) = (self.state(needs), self.name(first), self.name(second));
                let others = self.others(earlier, later, &user, &spoiler);
                format!("{user} needs {needs}, which it is not behind {spoiler}, and nothing made it so again{others}")
            }
            Reason::NoMaker { needs } => {
                let (needs, user) = (self.state(needs), self.name(first));
                format!("{user} needs {needs}, which it was not at first, and nothing made it so")
            }
            Reason::Count(count) => self.count(count),
        }
    }

    /// Those that could have made a state, but were too early or too late.
    fn others(&mut self, earlier: &[OpId], later: &[OpId], user: &str, spoiler: &str) -> String {
        let mut text = Vec::new();
        if !earlier.is_empty() {
            text.push(format!("{} came before {spoiler}", self.names(earlier)));
        }
        if !later.is_empty() {
            text.push(format!("{} came behind {user}", self.names(later)));
        }
        if text.is_empty() { String::new() } else { format!(" ({})", text.join(", ")) }
    }

    fn count(&mut self, count: &Count) -> String {
        let Count { what, initial, user, at_least, at_most, more, less, maybe_more, maybe_less } = count;
        let user = self.name(*user);
        let number = |number: i64| match what {
            Counted::Permits => plural(number, "permit"),
            Counted::Readers => plural(number, "reader"),
            Counted::Writers => plural(number, "writer"),
            Counted::Total => format!("a count of {number}"),
        };
        let needs = match (at_least, at_most) {
            (Some(least), Some(most)) if least == most => number(*least),
            (Some(least), _) => format!("at least {}", number(*least)),
            (None, Some(0)) => format!("no {}", number(0).trim_start_matches("0 ").trim_end_matches('s')),
            (None, Some(most)) => format!("at most {}", number(*most)),
            (None, None) => "nothing".to_owned(),
        };
        let mut parts = vec![format!("{user} needs {needs}"), format!("at first there is {}", number(*initial))];
        for (ops, text) in [(less, "one less"), (more, "one more")] {
            if !ops.is_empty() {
                parts.push(format!("{} before it made {text}{}", self.names(ops), each(ops)));
            }
        }
        for (ops, text) in [(maybe_less, "one less"), (maybe_more, "one more")] {
            if !ops.is_empty() {
                parts.push(format!("{} may be before it and make {text}{}", self.names(ops), each(ops)));
            }
        }
        list(&parts)
    }

    fn tell_places<Ret: Display>(&mut self, none: &NoPlace<Ret>, word: &str) {
        let NoPlace { op, before, open, places, more } = none;
        let name = self.name(*op);
        let mut sentence = word.to_owned();
        if before.is_empty() {
            sentence.push_str(&format!("nothing had to come before {name}"));
        } else {
            let before = self.names(before);
            sentence.push_str(&format!("{name} came behind {before}"));
        }
        if !open.is_empty() {
            sentence.push_str(&format!("; {} may have come before it too", self.names(open)));
        }
        self.say(sentence);
        let outer = self.indent.clone();
        for place in places {
            let Place { order, state, results, then } = place;
            let order = if order.is_empty() { "at once".to_owned() } else { format!("after {}", self.in_order(order)) };
            let state = shorten(&visible(state));
            let results = results.iter().map(|result| shorten(&visible(&result.to_string()))).collect::<Vec<_>>();
            let what = match (then, results.as_slice()) {
                (Some(_), _) => "it fits".to_owned(),
                (None, []) => "it could not return".to_owned(),
                (None, results) => format!("it would return {}", results.join(" or ")),
            };
            self.say(format!("{order}, the state is {state}, and {what}"));
            match then {
                Some(Some(then)) => {
                    self.indent = format!("{outer}  ");
                    self.tell_places(then, "but then ");
                    self.indent.clone_from(&outer);
                }
                Some(None) => self.say("but then there is no order for the rest".to_owned()),
                None => {}
            }
        }
        if *more > 0 {
            let states = plural(i64::try_from(*more).unwrap_or(i64::MAX), "further state");
            self.say(format!("nor does it fit in {states} that may be reached"));
        }
        if places.iter().all(|place| place.then.is_none()) {
            self.say(format!("so there is no place for {name}"));
        }
    }

    fn in_order(&mut self, order: &[OpId]) -> String {
        let names: Vec<String> = order.iter().map(|id| self.name(*id)).collect();
        names.join(", then ")
    }
}

/// " each", of several.
fn each(ops: &[OpId]) -> &'static str {
    if ops.len() > 1 { " each" } else { "" }
}

/// "1 permit", "2 permits".
fn plural(number: i64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// "a, b and c".
fn list(names: &[String]) -> String {
    match names {
        [] => "nothing".to_owned(),
        [one] => one.clone(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}

//! Arguments in words: why the operations of a core have no order.

use std::collections::HashSet;
use std::fmt::Display;

use super::{Line, alternatives, shorten};
use crate::history::{Annotation, History, OpId, Operation};
use crate::verdict::{
    Argument, Before, Core, Count, Counted, End, Evidence, Ground, NoPlace, ObjectKind, Partners, Place,
    ProgressEvidence, Proof, Reason, Role, Unfit, WhyUnfit, Witness,
};

/// Results that carry no information, and are not displayed.
const SILENT: [&str; 3] = ["ok", "-", "()"];
/// The maximum number of operations that are listed one by one.
const MOST_LISTED: usize = 8;

/// Returns the argument about a core of `history`, as one string for each sentence.
///
/// The first mention of an operation includes its process and place.
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
/// assert!(sentences[0].starts_with("Enqueue(1) -> Done of process 0 (events 0-1) returned before"), "{}", sentences[0]);
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
        let begin = if stays { "with it" } else { "right after it" };
        teller.say(format!(
            "{name} leaves the object in the same state whatever happened before, so calls that returned before it was called \
             do not matter: the explanation starts {begin}"
        ));
        teller.begin = if stays { Begin::With } else { Begin::After(first) };
    }
    if has_places(&argument.proof) && ignores_calls(history, core) {
        teller.say(
            "All other calls, with the results that they returned, make no difference, so the states below are computed \
             without them"
                .to_owned(),
        );
    }
    teller.tell_proof(&argument.proof, &mut Vec::new());
    teller.sentences
}

/// Returns whether an argument lists states of the object.
fn has_places<Ret>(proof: &Proof<Ret>) -> bool {
    match &proof.end {
        End::NoPlace(_) => true,
        End::Cases { yes, no, .. } => has_places(yes) || has_places(no),
        End::Circle(_) | End::Impossible { .. } | End::NeverEmpty { .. } => false,
    }
}

/// Returns whether the history of the core omits calls on the core's object that were made before
/// the last return of the core. Such calls may have changed the state, but not in a way that
/// matters. Calls that returned before the beginning of the core do not count.
fn ignores_calls<Op, Ret>(history: &History<Op, Ret>, core: &Core<Op, Ret>) -> bool {
    let is_member = |id: OpId| core.begins_behind == Some(id) || core.members.iter().any(|member| member.id == id);
    let completed = core.members.iter().filter(|member| member.role == Role::Completed);
    let last = completed.filter_map(|member| member.events.1).max().unwrap_or(0);
    let first = core.begins_behind.map_or(0, |first| history[first].call_position());
    let object = core.members.first().map(|member| history[member.id].object);
    (0..).map(OpId).zip(history.operations()).any(|(id, operation)| {
        let is_over = operation.return_position().is_some_and(|position| position < first);
        Some(operation.object) == object && operation.call_position() < last && !is_over && !is_member(id)
    })
}

/// Returns whether the same operations, in the same order, may have several results or leave the
/// object in several states. `none` lists the places of one operation among the other operations,
/// with the state of the object at each place.
fn is_nondeterministic<Ret>(none: &NoPlace<Ret>) -> bool {
    none.places.iter().enumerate().any(|(at, Place { order, results, then, .. })| {
        results.len() > 1
            || none.places[..at].iter().any(|earlier| earlier.order == *order)
            || then.iter().flatten().any(|then| is_nondeterministic(then))
    })
}

/// Explains why executions of `history` that synchronize in pairs cannot all have had partners.
///
/// ```
/// use trueline::history::{History, OpId};
/// use trueline::verdict::{Partners, Unfit, WhyUnfit};
/// use trueline::view::prose;
///
/// let mut builder = History::builder();
/// builder.call(0, "send(1)")?;
/// builder.call(1, "receive()")?;
/// builder.ret(0, "ok")?;
/// builder.ret(1, "2")?;
/// let partners = Partners::new(vec![OpId(1)], Vec::new(), vec![Unfit::new(OpId(0), WhyUnfit::Result)]);
/// assert_eq!(
///     prose::tell_partners(&builder.finish(), &partners),
///     [
///         "receive() -> 2 of process 1 (events 1-3) needs a partner: a call that overlapped it, with arguments and results that fit.",
///         "send(1) of process 0 (events 0-2) overlapped it, but the arguments and results do not fit.",
///         "No call made before the rejected return overlaps receive() -> 2 and also fits, so there is no partner for it.",
///     ]
/// );
/// # Ok::<(), trueline::history::HistoryError>(())
/// ```
pub fn tell_partners<Op: Display, Ret: Display>(history: &History<Op, Ret>, found: &Partners) -> Vec<String> {
    let Partners { needing, partners, unfit } = found;
    let told = needing.iter().chain(partners).copied().chain(unfit.iter().map(|unfit| unfit.op));
    let mut teller = Teller::of(history, told);
    let [one] = needing.as_slice() else {
        let (names, count) = (teller.names(needing), needing.len());
        teller.say(format!(
            "Each of {names} needs a partner of its own: a call that overlapped it, with arguments and results that fit. So \
             {count} partners are needed"
        ));
        let only = match partners.as_slice() {
            [] => "no call made before the rejected return can be a partner".to_owned(),
            partners => format!(
                "of the calls made before the rejected return, only {} can be a partner",
                teller.names(partners)
            ),
        };
        teller.say(format!("But {only}"));
        return teller.sentences;
    };
    let name = teller.name(*one);
    teller.say(format!("{name} needs a partner: a call that overlapped it, with arguments and results that fit"));
    for Unfit { op, why } in unfit {
        let (other, name) = (teller.name(*op), teller.name(*one));
        teller.say(match why {
            WhyUnfit::TooEarly => format!("{other} would fit, but had returned before {name} was called"),
            WhyUnfit::TooLate => format!("{other} would fit, but was called after {name} had returned"),
            WhyUnfit::Result => format!("{other} overlapped it, but the arguments and results do not fit"),
        });
    }
    let name = teller.name(*one);
    teller.say(format!(
        "No call made before the rejected return overlaps {name} and also fits, so there is no partner for it"
    ));
    teller.sentences
}

/// Explains why executions of `history` that did not return should have returned.
pub fn tell_progress<Op: Display, Ret: Display>(
    history: &History<Op, Ret>,
    evidence: &ProgressEvidence,
) -> Vec<String> {
    let ProgressEvidence { synchronizations, anticipated } = evidence;
    let before: Vec<&Vec<OpId>> = synchronizations.iter().filter(|group| !anticipated.contains(group)).collect();
    let first = before.len().saturating_sub(MOST_LISTED / 2);
    let told = before[first..].iter().copied().chain(anticipated).flatten().copied();
    let mut teller = Teller::of(history, told);
    if !before.is_empty() {
        let last = if first > 0 { ", ending with" } else { "" };
        let names: Vec<String> = before[first..].iter().map(|group| teller.group(group)).collect();
        teller.say(format!("These may have taken effect{last}: {}", names.join(", then ")));
    }
    for group in anticipated {
        let stuck: Vec<OpId> = group.iter().copied().filter(|op| history[*op].return_position().is_none()).collect();
        let then = if before.is_empty() { "" } else { "Then " };
        let (names, together) = (teller.names(group), if group.len() > 1 { " together" } else { "" });
        let sentence = if stuck.len() == group.len() {
            format!("{then}{names} could have taken effect{together}, but never returned")
        } else {
            let stuck = teller.names(&stuck);
            format!(
                "The calls that returned are possible only if calls that never returned took effect: {names} may have taken \
                 effect{together}, but {stuck} never returned"
            )
        };
        teller.say(sentence);
    }
    teller.say("In every order of the calls, there is a call that could have returned but never did".to_owned());
    teller.sentences
}

/// Returns a sentence with the [annotations](History::annotations) after the event `from` and
/// before the event `to`. Returns `None` if the history has no annotations between these events.
pub fn tell_annotations<Op, Ret>(history: &History<Op, Ret>, from: u32, to: u32) -> Option<String> {
    let between = |annotation: &&Annotation| annotation.position > from && annotation.position <= to;
    let happened: Vec<&Annotation> = history.annotations().iter().filter(between).collect();
    let name = |annotation: &&Annotation| match annotation.line {
        0 => shorten(&annotation.text),
        line => format!("{} (line {line})", shorten(&annotation.text)),
    };
    let mut names: Vec<String> = happened.iter().take(MOST_LISTED).map(name).collect();
    if happened.len() > MOST_LISTED {
        names.push(format!("and {} more", happened.len() - MOST_LISTED));
    }
    (!names.is_empty()).then(|| format!("Meanwhile: {}.", names.join("; ")))
}

/// Explains evidence that has no argument: evidence for synchronizations, for quasi
/// linearizability, and for large cores.
pub fn tell_evidence<Op: Display, Ret: Display>(history: &History<Op, Ret>, evidence: &Evidence<Ret>) -> Vec<String> {
    let Evidence { prefix, together, refused, event, open, allowed, all_allowed, is_first, quasi, .. } = evidence;
    let shown = prefix.len().saturating_sub(MOST_LISTED);
    if let Some(quasi) = quasi {
        let told = prefix[shown..].iter().chain(&quasi.out_of_reach).copied();
        let mut teller = Teller::of(history, told);
        if !prefix.is_empty() {
            let how = if shown > 0 { "ends with" } else { "is" };
            let order = teller.in_order(&prefix[shown..]);
            teller.say(format!(
                "The longest legal prefix that was found, with operations out of order only as far as their factors allow, {how} {order}"
            ));
        }
        if !quasi.out_of_reach.is_empty() {
            let (left, behind) =
                (teller.names(&quasi.out_of_reach), if prefix.is_empty() { "" } else { " after that" });
            teller.say(format!("No order was found for {left}{behind}"));
        }
        return teller.sentences;
    }
    let witness = Witness { order: prefix.clone(), together: together.clone(), permuted: Vec::new() };
    let groups: Vec<&[OpId]> = witness.groups().collect();
    let first = groups.len().saturating_sub(MOST_LISTED / 2);
    let told = groups[first..].concat().into_iter().chain(open.iter().copied()).chain([*refused]);
    let mut teller = Teller::of(history, told);
    // If no operation returned before the refused return, a single sentence names the operations
    // that could have taken effect before the refused return.
    let is_alone = groups.is_empty() && *is_first;
    if is_alone {
        let name = teller.name(*refused);
        let others = match open.as_slice() {
            [] => "No other call was made".to_owned(),
            open => format!("Of the other calls, only {} could have taken effect", teller.names(open)),
        };
        teller.say(format!("{others} before the return of {name}"));
    } else if !groups.is_empty() {
        let names: Vec<String> = match together.as_slice() {
            [] => groups[first..].iter().map(|group| teller.group(group)).collect(),
            // Do not show the results of operations that are still open at the refused return: these operations may
            // also have had other partners, and other results.
            _ => {
                let mut labels = Teller::of(history, groups[first..].concat().into_iter()).labels;
                for (id, open) in &mut labels {
                    let operation = &history[*id];
                    if operation.return_position().is_some_and(|position| position >= *event) {
                        open.short = label(&operation.op.to_string(), None);
                    }
                }
                let mut before = Teller::with_labels(ObjectKind::Other, labels, HashSet::new());
                groups[first..].iter().map(|group| before.group(group)).collect()
            }
        };
        let (name, last) = (teller.name(*refused), if first > 0 { ", ending with" } else { "" });
        teller
            .say(format!("Before the return of {name}, these may have taken effect{last}: {}", names.join(", then ")));
    }
    let results: Vec<String> = allowed.iter().map(ToString::to_string).collect();
    let name = teller.name(*refused);
    let (but, how) = match (is_alone, open.is_empty()) {
        (true, true) => (format!("So {name}"), ""),
        (true, false) => (format!("But {name}"), ", whichever of these took effect"),
        (false, _) => (format!("But {name}"), ", no matter how the others took effect"),
    };
    teller.say(match (all_allowed, results.as_slice()) {
        _ if !is_first => format!("By the time {name} returned, no order was possible"),
        (true, []) => format!("{but} could not have returned then{how}"),
        (true, results) => format!("{but} could only have returned {}{how}", alternatives(results)),
        (false, []) => format!("{but} could not have returned that{how}"),
        (false, results) => {
            let example = alternatives(results);
            format!("{but} could not have returned that{how}; it could have returned {example}, for example")
        }
    });
    if !open.is_empty() && !is_alone {
        let open = teller.names(open);
        teller.say(format!("Orders that include the calls open at that point were also tried: {open}"));
    }
    teller.sentences
}

/// Describes an order in which the operations of an accepted history may have taken effect. If the
/// order is long, describes only its beginning.
///
/// ```
/// use trueline::history::{History, OpId};
/// use trueline::verdict::Witness;
/// use trueline::view::prose;
///
/// let mut builder = History::builder();
/// builder.call(0, "read()")?;
/// builder.call(1, "write(1)")?;
/// builder.ret(1, "ok")?;
/// builder.ret(0, "1")?;
/// let witness = Witness::one_by_one(vec![OpId(1), OpId(0)]);
/// assert_eq!(prose::tell_witness(&builder.finish(), &witness), ["The operations could have taken effect in this order: write(1), read() -> 1."]);
/// # Ok::<(), trueline::history::HistoryError>(())
/// ```
pub fn tell_witness<Op: Display, Ret: Display>(history: &History<Op, Ret>, witness: &Witness) -> Vec<String> {
    let name = |id: &OpId| {
        let operation = &history[*id];
        label(&operation.op.to_string(), operation.outcome.result().map(ToString::to_string))
    };
    let tell = |groups: &mut dyn Iterator<Item = &[OpId]>| -> String {
        let (mut told, mut shown, mut left) = (Vec::new(), 0, 0);
        for group in groups {
            if shown >= MOST_LISTED {
                left += group.len();
                continue;
            }
            shown += group.len();
            let names: Vec<String> = group.iter().map(name).collect();
            told.push(if group.len() > 1 { format!("{} together", list(&names)) } else { names.concat() });
        }
        let rest = if left > 0 { format!(", and {left} more") } else { String::new() };
        format!("{}{rest}", told.join(", "))
    };
    if witness.order.is_empty() {
        return vec!["No call had to take effect.".to_owned()];
    }
    let mut sentences =
        vec![format!("The operations could have taken effect in this order: {}.", tell(&mut witness.groups()))];
    if !witness.permuted.is_empty() {
        let order = tell(&mut witness.permuted.chunks(1));
        sentences.push(format!("That is close enough to an order that the object allows: {order}."));
    }
    sentences
}

/// Formats an operation, with its result unless the result carries no information.
fn label(operation: &str, result: Option<String>) -> String {
    let operation = shorten(operation);
    match result.map(|result| shorten(&result)) {
        Some(result) if !SILENT.contains(&result.as_str()) => format!("{operation} -> {result}"),
        _ => operation,
    }
}

struct Teller {
    object: ObjectKind,
    /// The operations that may be mentioned, each with its name in the text.
    labels: Vec<(OpId, Label)>,
    introduced: HashSet<OpId>,
    completed: HashSet<OpId>,
    begin: Begin,
    /// Whether the text already contains the remark that it names only those states to which the
    /// calls of the core can lead.
    has_said_which_states: bool,
    sentences: Vec<String>,
    /// The indentation of each sentence. Sentences that belong to one case of a case distinction
    /// are indented further.
    indent: String,
}

/// The time at which an argument begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Begin {
    /// When the object was created.
    Initially,
    /// Just before an operation of the core that leads to the same state from every state in which it is possible. The
    /// argument starts from the initial state, although the object may have been in another one.
    With,
    /// Right after this operation, which is not part of the core.
    After(OpId),
}

struct Label {
    /// The operation and its result.
    short: String,
    /// The process that called the operation.
    process: String,
    /// The place of the operation in the file.
    place: String,
    /// The details needed to distinguish the operation from other operations.
    needs: Needs,
}

/// The tense of a clause about a state: whether the object is, was or can be in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tense {
    Present,
    Past,
    /// The object may be in the state.
    Possible,
}

/// The details needed to distinguish an operation from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Needs {
    Nothing,
    Process,
    Place,
}

impl Label {
    fn new<Op: Display, Ret: Display>(history: &History<Op, Ret>, id: OpId, short: String) -> Self {
        let line = Line::of(history, id, false);
        Self { short, process: line.process(), place: line.place, needs: Needs::Nothing }
    }
}

impl Teller {
    /// Creates a writer of sentences about operations of a history.
    fn of<Op: Display, Ret: Display>(history: &History<Op, Ret>, told: impl Iterator<Item = OpId>) -> Self {
        let mut labels: Vec<(OpId, Label)> = Vec::new();
        for id in told {
            if labels.iter().all(|(other, _)| *other != id) {
                let operation = &history[id];
                let short = label(&operation.op.to_string(), operation.outcome.result().map(ToString::to_string));
                labels.push((id, Label::new(history, id, short)));
            }
        }
        Self::with_labels(ObjectKind::Other, labels, HashSet::new())
    }

    fn with_labels(object: ObjectKind, mut labels: Vec<(OpId, Label)>, completed: HashSet<OpId>) -> Self {
        for at in 0..labels.len() {
            let label = &labels[at].1;
            let same = || labels.iter().map(|(_, other)| other).filter(|other| other.short == label.short);
            let needs = if same().count() == 1 {
                Needs::Nothing
            } else if same().filter(|other| other.process == label.process).count() == 1 {
                Needs::Process
            } else {
                Needs::Place
            };
            labels[at].1.needs = needs;
        }
        Self {
            begin: Begin::Initially,
            object,
            labels,
            introduced: HashSet::new(),
            completed,
            has_said_which_states: false,
            sentences: Vec::new(),
            indent: String::new(),
        }
    }

    fn new<Op: Display, Ret: Display>(history: &History<Op, Ret>, core: &Core<Op, Ret>, object: ObjectKind) -> Self {
        let mut labels: Vec<(OpId, Label)> = Vec::new();
        let mut add = |id: OpId, operation: &Operation<Op, Ret>| {
            let short = label(&operation.op.to_string(), operation.outcome.result().map(ToString::to_string));
            labels.push((id, Label::new(history, id, short)));
        };
        for (member, left) in core.members.iter().zip(core.history.operations()) {
            add(member.id, left);
        }
        if let Some(first) = core.begins_behind.filter(|first| core.members.iter().all(|member| member.id != *first)) {
            add(first, &history[first]);
        }
        let completed = core.members.iter().filter(|member| member.role == Role::Completed);
        Self::with_labels(object, labels, completed.map(|member| member.id).collect())
    }

    /// Returns the name of an operation. The first mention includes the process and the place.
    /// Later mentions include them only as far as they are needed to distinguish the operation from
    /// others.
    fn name(&mut self, id: OpId) -> String {
        let is_new = self.introduced.insert(id);
        let Some((_, label)) = self.labels.iter().find(|(other, _)| *other == id) else {
            return format!("operation {}", id.0);
        };
        let Label { short, process, place, needs } = label;
        match needs {
            _ if is_new => format!("{short} of process {process} ({place})"),
            Needs::Place => format!("{short} of process {process} ({place})"),
            Needs::Process => format!("{short} of process {process}"),
            Needs::Nothing => short.clone(),
        }
    }

    fn names(&mut self, ids: &[OpId]) -> String {
        let more = ids.len().saturating_sub(MOST_LISTED);
        let mut names: Vec<String> = ids[..ids.len() - more].iter().map(|id| self.name(*id)).collect();
        if more > 0 {
            names.push(format!("{more} more"));
        }
        list(&names)
    }

    /// Formats a group as "a and b together".
    fn group(&mut self, group: &[OpId]) -> String {
        let names = self.names(group);
        if group.len() > 1 { format!("{names} together") } else { names }
    }

    /// Adds a sentence, with indentation and a full stop.
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
                    [one] => format!("But {} cannot come before itself", self.name(*one)),
                    [one, other] => {
                        let (one, other) = (self.name(*one), self.name(*other));
                        format!("But {one} and {other} cannot each come before the other")
                    }
                    circle => {
                        let names = circle.iter().chain(&circle[..1]).map(|id| self.name(*id)).collect::<Vec<_>>();
                        format!("But that is a circle: {}", names.join(" before "))
                    }
                };
                self.say(sentence);
            }
            End::Impossible { op, reason, .. } => {
                let why = self.reason(reason, *op, *op);
                let end = match reason {
                    Reason::UsedTooOften { .. } | Reason::CountInAll { .. } => {
                        "so there is no order for them".to_owned()
                    }
                    Reason::TakenTooOften { takes, .. } if takes.len() > 1 => {
                        "so there is no order for them".to_owned()
                    }
                    _ => format!("so there is no place for {}", self.name(*op)),
                };
                self.say(format!("{why}: {end}"));
            }
            End::Cases { assumed, yes, no } => {
                let Before { first, second } = *assumed;
                let reverse = Before { first: second, second: first };
                let outer = self.indent.clone();
                for (word, assumed, proof) in [("Either", *assumed, yes), ("Or", reverse, no)] {
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
            End::NeverEmpty { op, first, pairs } => {
                let (empty, found, put) = (self.name(*op), self.empty(), self.name(*first));
                self.say(format!("{empty} {found}, but while {empty} was open, there was always a value: {put} had returned before {empty} was called"));
                if !pairs.is_empty() {
                    let more = pairs.len().saturating_sub(MOST_LISTED);
                    let shown = &pairs[..pairs.len() - more];
                    let mut names: Vec<String> = Vec::new();
                    for Before { first, second } in shown {
                        let (put, taker) = (self.name(*first), self.name(*second));
                        names.push(format!("{put} before {taker}"));
                    }
                    if more > 0 {
                        names.push(format!("{more} more pairs"));
                    }
                    self.say(format!(
                        "For each call that may have removed a value, another value had been inserted before that call was made: {}",
                        list(&names)
                    ));
                }
                let name = self.name(*op);
                self.say(format!("So there is no place for {name}"));
            }
            End::NoPlace(none) => self.tell_places(none, false),
        }
        claims.truncate(known);
    }

    /// Returns a clause that states the claim: the first operation of `claim` came before the
    /// second. Adds "if the latter took effect", unless the second operation certainly took effect.
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
            format!("{first} came before {second_name}, if the latter took effect")
        }
    }

    /// Returns a phrase for the time at which the argument begins, such as "initially".
    fn initially(&mut self) -> String {
        match self.begin {
            Begin::Initially => "initially".to_owned(),
            Begin::With => "at the start of this explanation".to_owned(),
            Begin::After(first) => format!("right after {}", self.name(first)),
        }
    }

    /// Returns a clause about the state of the object: which state it is in, was in, or can be in.
    fn is_in(&self, tense: Tense, state: &str) -> String {
        let (object, [is, was, can_be]) = match self.object {
            ObjectKind::Register => ("the register", ["holds", "held", "can hold"]),
            ObjectKind::Lock | ObjectKind::ReadWriteLock => ("the lock", ["is", "was", "can be"]),
            ObjectKind::Semaphore => ("the semaphore", ["has", "had", "can have"]),
            ObjectKind::Set => ("the set", ["is", "was", "can be"]),
            ObjectKind::Map => ("the map", ["is", "was", "can be"]),
            ObjectKind::Queue => ("the queue", ["is", "was", "can be"]),
            ObjectKind::Stack => ("the stack", ["is", "was", "can be"]),
            ObjectKind::PriorityQueue => ("the priority queue", ["is", "was", "can be"]),
            ObjectKind::Counter | ObjectKind::Bag | ObjectKind::Other => ("the state", ["is", "was", "can be"]),
        };
        let verb = match tense {
            Tense::Present => is,
            Tense::Past => was,
            Tense::Possible => can_be,
        };
        format!("{object} {verb} {}", shorten(state))
    }

    /// Returns the phrase for an operation that found its container empty.
    fn empty(&self) -> &'static str {
        match self.object {
            ObjectKind::Queue => "found the queue empty",
            ObjectKind::Stack => "found the stack empty",
            ObjectKind::PriorityQueue => "found the priority queue empty",
            _ => "found nothing",
        }
    }

    /// Describes the state that an operation needs its object to be in.
    fn state(&mut self, needs: &[String]) -> String {
        if needs.is_empty() {
            return "a state that allows its result".to_owned();
        }
        let states = needs.iter().map(|state| shorten(state)).collect::<Vec<_>>().join(" or ");
        let noun = match self.object {
            ObjectKind::Register => return format!("the register to hold {states}"),
            ObjectKind::Lock => return format!("the lock to be {states}"),
            ObjectKind::ReadWriteLock => "the lock to be",
            ObjectKind::Semaphore => "the semaphore to have",
            ObjectKind::Set => "the set to be",
            ObjectKind::Map => "the map to be",
            _ => "the state to be",
        };
        // The object may have other states that allow the result, but the calls of the core do not
        // lead to them. The text contains this remark only once.
        if std::mem::replace(&mut self.has_said_which_states, true) {
            format!("{noun} {states}")
        } else {
            format!("{noun} {states} (these calls can reach no other state that allows its result)")
        }
    }

    /// Returns the reason for a claim: the part of the sentence before "so".
    fn reason(&mut self, reason: &Reason, first: OpId, second: OpId) -> String {
        match reason {
            Reason::Source => {
                let (put, taken) = (self.name(first), self.name(second));
                format!("{taken} got what {put} put in")
            }
            Reason::Seen => {
                let (seen, taken) = (self.name(first), self.name(second));
                format!("{seen} saw what {taken} took out")
            }
            Reason::FirstInFirstOut { first_in: first, second_in: second }
            | Reason::FirstOutFirstIn { first_out: first, second_out: second } => {
                let (first, second) = (self.name(*first), self.name(*second));
                format!("{first} came before {second}, and a queue is first in, first out")
            }
            Reason::InFront { put, own } => {
                let (put, own, op) = (self.name(*put), self.name(*own), self.name(first));
                format!(
                    "{put} came before {own}, so that its value was in front of the one that {op} got, \
                     and nothing had taken it out"
                )
            }
            Reason::Empty { put } => {
                let (put, empty, found) = (self.name(*put), self.name(second), self.empty());
                format!("{put} came before {empty}, which {found}")
            }
            Reason::NotYetIn { taken } => {
                let (taken, empty, put) = (self.name(*taken), self.name(first), self.name(second));
                format!("{taken} got what {put} put in, but came after {empty}, which {}", self.empty())
            }
            Reason::StillIn { put } => {
                let (put, empty) = (self.name(*put), self.name(first));
                format!("{put} came before {empty}, which {}, but nothing had taken its value out", self.empty())
            }
            Reason::OnTop { below, above } => {
                let (below, above, out) = (self.name(*below), self.name(*above), self.name(second));
                format!(
                    "{above} came between {below} and {out}, so that its value lay on top of the one that {out} got"
                )
            }
            Reason::NotTakenOff { below, above } => {
                let (below, above, out) = (self.name(*below), self.name(*above), self.name(first));
                format!(
                    "{above} came between {below} and {out}, so that its value lay on top of the one that {out} got, \
                     and nothing had taken it off"
                )
            }
            Reason::Below { top, later } => {
                let (top, later, below) = (self.name(*top), self.name(*later), self.name(first));
                format!(
                    "{top} came between {below} and {later}, and {later} got the value of {below}, so the value of {below} lay below the one that {top} got"
                )
            }
            Reason::Lesser { put } => {
                let (put, out) = (self.name(*put), self.name(second));
                format!("{put} came before {out}, and its value has priority over the one that {out} got")
            }
            Reason::LesserLater { taken } => {
                let (taken, out, put) = (self.name(*taken), self.name(first), self.name(second));
                format!(
                    "{taken} came after {out}, and got the value of {put}, which has priority over the one that {out} got"
                )
            }
            Reason::LesserStillIn { put } => {
                let (put, out) = (self.name(*put), self.name(first));
                format!(
                    "{put} came before {out}, its value has priority over the one that {out} got, and nothing had taken it out"
                )
            }
            Reason::TakenTooOften { puts, takes } if puts.is_empty() => {
                format!("No call had put in the value that {} got", self.names(takes))
            }
            Reason::TakenTooOften { puts, takes } => {
                let (puts, takes) = (self.names(puts), self.names(takes));
                format!("{takes} took out the same value, and only {puts} put it in")
            }
            Reason::OnlyMaker { needs, later } => {
                let (needs, maker, user) = (self.state(needs), self.name(first), self.name(second));
                let others = self.others(&[], later, &user, "");
                let initially = self.initially();
                format!(
                    "{user} needs {needs}; this was not the case {initially}, and only {maker} could have brought it about{others}"
                )
            }
            Reason::MadeAgain { needs, undone, earlier, later } => {
                let (undone, maker, user) = (*undone, first, second);
                self.made_again(needs, [undone, maker, user], earlier, later)
            }
            Reason::Between { needs, user, earlier, later } => {
                let (undone, maker, user) = (first, second, *user);
                self.made_again(needs, [undone, maker, user], earlier, later)
            }
            Reason::Undone { needs, earlier, later } => {
                let (needs, user, spoiler) = (self.state(needs), self.name(first), self.name(second));
                let others = self.others(earlier, later, &user, &spoiler);
                format!(
                    "{user} needs {needs}; after {spoiler} this is not the case, and no call could have brought it about again{others}"
                )
            }
            Reason::NoMaker { needs, first: initial } if needs.is_empty() => {
                let user = self.name(first);
                let (begin, others) = match self.begin {
                    // In the state in which the core begins, the object may also hold values that
                    // the core leaves out. So the text does not describe this state.
                    Begin::With | Begin::After(_) => (self.initially(), "no other call that matters"),
                    Begin::Initially => {
                        let state = self.is_in(Tense::Past, initial);
                        (format!("initially, when {state}"), "no call made before it returned")
                    }
                };
                format!(
                    "{user} could not have returned that {begin}; \
                     with the results that were recorded, {others} leads to a state that allows this return"
                )
            }
            Reason::NoMaker { needs, .. } => {
                let (needs, user, initially) = (self.state(needs), self.name(first), self.initially());
                format!(
                    "{user} needs {needs}; this was not the case {initially}, and no call could have brought it about"
                )
            }
            Reason::UsedUp { needs, at_first, user, used, makers, later } => {
                let (needs, user, used) = (self.state(needs), self.name(*user), self.names(used));
                let chances = self.chances(*at_first, makers);
                let others = self.others(&[], later, &user, "");
                format!(
                    "{user} needs {needs}; {used} needed the same, and afterward it was no longer the case; {chances}{others}"
                )
            }
            Reason::UsedTooOften { needs, at_first, used, makers } => {
                let (needs, used_names) = (self.state(needs), self.names(used));
                let chances = self.chances(*at_first, makers);
                if used.len() == 1 {
                    format!("{used_names} needs {needs}; {chances}")
                } else {
                    format!(
                        "{used_names} each need {needs}, and after each of them this is no longer the case; {chances}"
                    )
                }
            }
            Reason::Count(count) => self.count(count, Some(second).filter(|second| *second != count.user)),
            Reason::CountInAll { what, initial, needed, users, is_more, others } => {
                let users = self.names(users);
                let (worse, better) = changes(*what, !is_more);
                let back = if others.is_empty() {
                    format!("nothing could have {better}")
                } else {
                    format!("only {} could have {better}", self.names(others))
                };
                let needs = needed_number(*what, *needed);
                let initially = self.initially();
                let parts: Vec<String> = at_first(*what, *initial, &initially).into_iter().chain([back]).collect();
                format!("{users} each needed {needs} and {worse}; {}", parts.join(", and "))
            }
        }
    }

    /// Returns a clause that states whether the initial state was a needed one, and which
    /// operations could produce a needed state later.
    fn chances(&mut self, at_first: bool, makers: &[OpId]) -> String {
        let initially = self.initially();
        match (at_first, makers) {
            (true, []) => format!("this was the case {initially}, and no call could have brought it about again"),
            (false, []) => format!("this was not the case {initially}, and no call could have brought it about"),
            (true, makers) => {
                format!(
                    "this was the case {initially}, and only {} could have brought it about again",
                    self.names(makers)
                )
            }
            (false, makers) => {
                format!(
                    "this was not the case {initially}, and only {} could have brought it about",
                    self.names(makers)
                )
            }
        }
    }

    fn made_again(
        &mut self,
        needs: &[String],
        [undone, maker, user]: [OpId; 3],
        earlier: &[OpId],
        later: &[OpId],
    ) -> String {
        let needs = self.state(needs);
        let (undone, user, maker) = (self.name(undone), self.name(user), self.name(maker));
        let others = self.others(earlier, later, &user, &undone);
        format!(
            "{undone} came before {user}, which needs {needs}; after {undone} this is not the case, \
             and only {maker} could have brought it about again{others}"
        )
    }

    /// Lists operations that could have produced a needed state or count, but came before `spoiler`
    /// or after `user`.
    fn others(&mut self, earlier: &[OpId], later: &[OpId], user: &str, spoiler: &str) -> String {
        let mut text = Vec::new();
        if !earlier.is_empty() {
            text.push(format!("{} came before {spoiler}", self.names(earlier)));
        }
        if !later.is_empty() {
            text.push(format!("{} came after {user}", self.names(later)));
        }
        if text.is_empty() { String::new() } else { format!(" ({})", text.join(", ")) }
    }

    /// Explains why a count does not have the value that an operation needs. If `other` is given,
    /// explains why the count would not have this value if `other` came before the operation.
    fn count(&mut self, count: &Count, other: Option<OpId>) -> String {
        let Count { what, initial, user, needed, too_little, before, maybe, later } = count;
        let user = self.name(*user);
        let (worse, better) = changes(*what, *too_little);
        let needs = match what {
            Counted::Values if *needed == 0 => self.empty().to_owned(),
            what => format!("needs {}", needed_number(*what, *needed)),
        };
        let initially = self.initially();
        let mut parts: Vec<String> = at_first(*what, *initial, &initially).into_iter().collect();
        if !before.is_empty() {
            parts.push(format!("{}{} {worse} before it", self.names(before), each(before)));
        }
        let others = self.others(&[], later, &user, "");
        parts.push(match maybe.as_slice() {
            [] => format!("nothing could have {better} before it{others}"),
            maybe => format!("only {} could have {better} before it{others}", self.names(maybe)),
        });
        let if_other = other.map_or_else(String::new, |other| {
            format!(", which is not enough if {} {worse} before it, too", self.name(other))
        });
        format!("{user} {needs}; {}{if_other}", parts.join(", and "))
    }

    fn tell_places<Ret: Display>(&mut self, none: &NoPlace<Ret>, is_nested: bool) {
        let NoPlace { op, before, open, places, more } = none;
        let tense = if is_nondeterministic(none) { Tense::Possible } else { Tense::Present };
        let name = self.name(*op);
        if let ([Place { order, state, results, then: None }], 0) = (places.as_slice(), more) {
            // The operation has only one place, or the state is the same at all its places.
            let when = match (order.as_slice(), is_nested) {
                ([], true) => "But then".to_owned(),
                ([], false) => format!("{},", capitalized(&self.initially())),
                (order, true) => format!("But then, after {},", self.in_order(order)),
                (order, false) => format!("After {},", self.in_order(order)),
            };
            let others = open.iter().filter(|other| !order.contains(other)).copied().collect::<Vec<_>>();
            let whether = if others.is_empty() {
                String::new()
            } else {
                format!(", whether or not {} took effect by then", self.names(&others))
            };
            let tense = if order.is_empty() && !is_nested { Tense::Present } else { tense };
            let (is_in, what) = (self.is_in(tense, state), would(results));
            self.say(format!("{when} {is_in}{whether}, and {name} {what}"));
            return;
        }
        let then = if is_nested { "But then " } else { "" };
        let (wherever, whether, whichever) = if is_nested || !before.is_empty() {
            ("wherever", "whether", "whichever")
        } else {
            ("Wherever", "Whether", "Whichever")
        };
        // An operation in `open` may have returned before `op` was called. If so, it took effect
        // before `op` or not at all. So the sentence only distinguishes whether it took effect
        // before `op`.
        let wherever = |teller: &mut Self, what: &str| match open.as_slice() {
            [] => format!("{wherever} {what} is placed, there is no legal order"),
            [one] => {
                format!("{whether} or not {} took effect before {what}, there is no legal order", teller.name(*one))
            }
            open => {
                format!("{whichever} of {} took effect before {what}, there is no legal order", teller.names(open))
            }
        };
        let sentence = if before.is_empty() {
            format!("{then}{}", wherever(self, &name))
        } else {
            let before = self.names(before);
            format!("{then}{name} came after {before}; {}", wherever(self, "it"))
        };
        self.say(sentence);
        let outer = self.indent.clone();
        for Place { order, state, results, then } in places {
            let tense = if order.is_empty() && !is_nested { Tense::Present } else { tense };
            let order = match order.as_slice() {
                [] if is_nested => "Right after that,".to_owned(),
                [] => format!("{},", capitalized(&self.initially())),
                order => format!("After {},", self.in_order(order)),
            };
            let is_in = self.is_in(tense, state);
            let what = if then.is_some() { "can return that".to_owned() } else { would(results) };
            self.say(format!("{order} {is_in}, and it {what}"));
            self.indent = format!("{outer}  ");
            match then {
                Some(Some(then)) => self.tell_places(then, true),
                Some(None) => self.say("But then there is no order for the other calls".to_owned()),
                None => {}
            }
            self.indent.clone_from(&outer);
        }
        if *more > 0 {
            let states = plural(i64::try_from(*more).unwrap_or(i64::MAX), "other state");
            self.say(format!("Nor can it return that in the {states} that these calls can reach"));
        }
        let name = self.name(*op);
        self.say(format!("So there is no place for {name}"));
    }

    fn in_order(&mut self, order: &[OpId]) -> String {
        let first = if order.len() > MOST_LISTED { order.len() - MOST_LISTED / 2 } else { 0 };
        let names: Vec<String> = order[first..].iter().map(|id| self.name(*id)).collect();
        let names = names.join(", then ");
        if first > 0 { format!("{first} others, then {names}") } else { names }
    }
}

/// Returns text with its first letter in upper case.
fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Returns " each" if there are several operations.
fn each(ops: &[OpId]) -> &'static str {
    if ops.len() > 1 { " each" } else { "" }
}

/// Returns a clause about the results that an operation would return instead of its recorded
/// result.
fn would<Ret: Display>(results: &[Ret]) -> String {
    let results: Vec<String> = results.iter().map(|result| shorten(&result.to_string())).collect();
    if results.is_empty() {
        "could not return at all".to_owned()
    } else {
        format!("would return {}", results.join(" or "))
    }
}

fn number(what: Counted, number: i64) -> String {
    match what {
        Counted::Permits => plural(number, "permit"),
        Counted::Readers => plural(number, "reader"),
        Counted::Writers => plural(number, "writer"),
        Counted::Values => plural(number, "value"),
        Counted::Total => format!("a count of {number}"),
    }
}

/// Returns a phrase for the count that an operation needs. The phrase may name the object, as in
/// "the lock to have no readers", because "it needs no readers" could mean that the operation does
/// not need readers.
fn needed_number(what: Counted, needed: i64) -> String {
    let counted = number(what, needed);
    match what {
        Counted::Permits if needed == 0 => format!("the semaphore to have {counted}"),
        Counted::Readers | Counted::Writers => format!("the lock to have {counted}"),
        Counted::Values => format!("the object to hold {counted}"),
        Counted::Permits | Counted::Total => counted,
    }
}

/// Describes the initial count. Returns `None` if the count is zero and this goes without saying,
/// as for the readers of a lock.
fn at_first(what: Counted, initial: i64, initially: &str) -> Option<String> {
    match (what, initial) {
        (Counted::Readers | Counted::Writers | Counted::Values, 0) => None,
        (Counted::Total, initial) => Some(format!("it was {initial} {initially}")),
        (what, 1) => Some(format!("there was {} {initially}", number(what, 1))),
        (what, initial) => Some(format!("there were {} {initially}", number(what, initial))),
    }
}

/// Returns two phrases: one for a change that moves a count away from the needed number, and one
/// for a change that moves the count closer to this number. `too_little` is true if the count is
/// too small.
fn changes(what: Counted, too_little: bool) -> (&'static str, &'static str) {
    let (more, had_more) = match what {
        Counted::Permits => ("gave one back", "given one back"),
        Counted::Readers => ("acquired the read lock", "acquired the read lock"),
        Counted::Writers => ("acquired the write lock", "acquired the write lock"),
        Counted::Values => ("put one in", "put one in"),
        Counted::Total => ("added one", "added one"),
    };
    let (less, had_less) = match what {
        Counted::Permits => ("took one", "taken one"),
        Counted::Readers => ("released the read lock", "released the read lock"),
        Counted::Writers => ("released the write lock", "released the write lock"),
        Counted::Values => ("took one out", "taken one out"),
        Counted::Total => ("subtracted one", "subtracted one"),
    };
    if too_little { (less, had_more) } else { (more, had_less) }
}

/// Formats a count as "no permits", "1 permit" or "2 permits".
fn plural(number: i64, noun: &str) -> String {
    match number {
        0 => format!("no {noun}s"),
        1 => format!("1 {noun}"),
        number => format!("{number} {noun}s"),
    }
}

/// Formats names as "a, b and c".
fn list(names: &[String]) -> String {
    match names {
        [] => "nothing".to_owned(),
        [one] => one.clone(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}

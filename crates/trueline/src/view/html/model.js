// The data of the page, unpacked into arrays that are indexed by bar. This file does not access the document.

const NONE = -1;
const REFUSED = 1, STUCK = 2, CONFLICT = 3;
const MOST_LETTERS = 30;

function unpack(data) {
  const rows = data.rows.map(([label, lanes]) => ({ label, lanes }));
  const lanes = [];
  rows.forEach((row, index) => {
    row.first = lanes.length;
    for (let lane = 0; lane < row.lanes; lane++) lanes.push(index);
  });
  const count = data.ops.length;
  const events = data.events.length;
  const model = {
    data, rows, lanes, count,
    lane: new Int32Array(count), call: new Int32Array(count), ret: new Int32Array(count).fill(NONE),
    op: new Int32Array(count), result: new Int32Array(count),
    step: new Int32Array(count), mark: new Uint8Array(count), core: new Uint8Array(count), other: new Uint8Array(count),
    callLine: new Int32Array(count), returnLine: new Int32Array(count),
    eventBar: new Int32Array(events),
    order: new Int32Array(data.order.length), groups: [],
    before: new Map(), after: new Map(),
  };
  // Each lane has at most one open bar.
  const open = new Int32Array(lanes.length);
  let next = 0;
  for (let event = 0; event < events; event++) {
    const lane = data.events[event] >> 1;
    if (data.events[event] & 1) {
      model.ret[open[lane]] = event;
      model.eventBar[event] = open[lane];
    } else {
      open[lane] = next;
      model.lane[next] = lane;
      model.call[next] = event;
      model.eventBar[event] = next++;
    }
  }
  // 0 refers to the next item that has not occurred yet, -n to the n-th item before that.
  const number = (codes, into) => {
    let fresh = 0;
    for (let bar = 0; bar < count; bar++) into[bar] = codes[bar] === 0 ? fresh++ : fresh + codes[bar];
  };
  number(data.ops, model.op);
  number(data.results, model.result);
  // Operations on other objects or keys than those of the problem.
  if (data.others) for (let bar = 0; bar < count; bar++) model.other[bar] = data.others[model.op[bar]] === "1" ? 1 : 0;
  let line = 0;
  if (data.lines === "operations") {
    for (let bar = 0; bar < count; bar++) {
      line += data.at[bar];
      model.callLine[bar] = model.returnLine[bar] = line;
    }
  } else if (data.lines === "events") {
    for (let event = 0; event < events; event++) {
      line += data.at[event];
      const bar = model.eventBar[event];
      (model.call[bar] === event ? model.callLine : model.returnLine)[bar] = line;
    }
  }
  let previous = -1;
  data.order.forEach((difference, index) => {
    previous += difference + 1;
    model.order[index] = previous;
  });
  let at = 0;
  const sizes = data.together;
  for (let index = 0; at < model.order.length; index++) {
    const size = sizes.length ? sizes[index] : 1;
    const group = model.order.subarray(at, at + size);
    const step = data.steps ? data.steps[index] : index + 1;
    for (const bar of group) model.step[bar] = step;
    model.groups.push(group);
    at += size;
  }
  for (const bar of data.core) model.core[bar] = 1;
  for (const [bar, mark] of data.marks) model.mark[bar] = mark;
  const texts = [];
  let text = "";
  for (const [front, back, middle] of data.texts) {
    text = text.slice(0, front) + middle + (back ? text.slice(-back) : "");
    texts.push(text);
  }
  for (const [bar, before, after] of data.states) {
    model.before.set(bar, texts[before]);
    model.after.set(bar, texts[after]);
  }
  // The number of cells that the text of a bar needs.
  model.letters = new Int32Array(count);
  for (let bar = 0; bar < count; bar++) model.letters[bar] = Math.min(MOST_LETTERS, barText(model, bar).length) + 2;
  // A cross covers the end of a refused bar.
  if (data.problem) for (const bar of data.problem.bars) model.letters[bar] += 2;
  return model;
}

function operationText(model, bar) { return model.data.calls[model.op[bar]]; }

function resultText(model, bar) { return model.data.returns[model.result[bar]]; }

function barText(model, bar) {
  const result = resultText(model, bar);
  const says = result !== null && result !== "ok" && result !== "-" && result !== "()";
  return says ? operationText(model, bar) + " → " + result : operationText(model, bar);
}

function rowOf(model, bar) { return model.lanes[model.lane[bar]]; }

function placeText(model, bar) {
  const returned = model.ret[bar] !== NONE;
  if (model.data.lines) {
    const call = model.callLine[bar];
    if (!returned) return "line " + call + "-";
    const ret = model.returnLine[bar];
    return call === ret ? "line " + call : "lines " + call + "-" + ret;
  }
  return returned ? "events " + model.call[bar] + "-" + model.ret[bar] : "event " + model.call[bar] + "-";
}

// Computes the places of events and bars, in cells as wide as a letter, as `timeline/place.rs` does. Hidden bars have no
// place.

function place(model, visible) {
  const { data, count, call, ret, eventBar, groups } = model;
  const events = eventBar.length;
  const problem = data.problem;
  const shown = [];
  for (const group of groups) {
    const part = group.filter((bar) => visible[bar]);
    if (part.length) shown.push(part);
  }
  const gaps = new Int32Array(shown.length);
  let least = 0;
  shown.forEach((group, index) => {
    for (const bar of group) least = Math.max(least, call[bar]);
    gaps[index] = least;
  });
  let most = (problem ? problem.event : events) - 1;
  for (let index = shown.length - 1; index >= 0; index--) {
    for (const bar of shown[index]) if (ret[bar] !== NONE) most = Math.min(most, ret[bar] - 1);
    gaps[index] += Math.max(0, most - gaps[index]) >> 1;
  }
  // A point after a hidden event is placed after the last visible event before it.
  const room = new Float64Array(events + 1);
  const offset = new Float64Array(shown.length);
  let last = -1;
  const behind = new Int32Array(events);
  for (let event = 0; event < events; event++) {
    if (visible[eventBar[event]]) last = event;
    behind[event] = last;
  }
  shown.forEach((group, index) => {
    gaps[index] = behind[gaps[index]];
    offset[index] = room[gaps[index]];
    room[gaps[index]] += String(model.step[group[0]]).length + 1;
  });
  const left = new Float64Array(count), right = new Float64Array(count).fill(NONE);
  const point = new Float64Array(count).fill(NONE);
  const cells = new Float64Array(events);
  const marks = [];
  let next = 0, width = 0;
  for (let event = 0; event < events; event++) {
    const bar = eventBar[event];
    if (!visible[bar]) continue;
    let cell = next;
    if (call[bar] === event) {
      left[bar] = cell;
      width = Math.max(width, next + model.letters[bar] + 1);
    } else {
      cell = Math.max(cell, left[bar] + model.letters[bar]);
      right[bar] = cell + 1;
    }
    cells[event] = cell;
    marks.push(event);
    next = cell + 1 + (room[event] > 0 ? room[event] + 1 : 0);
  }
  width = Math.max(width, next);
  for (let bar = 0; bar < count; bar++) if (visible[bar] && right[bar] === NONE) right[bar] = width;
  shown.forEach((group, index) => {
    const digits = String(model.step[group[0]]).length;
    const x = cells[gaps[index]] + 2 + offset[index] + digits / 2;
    for (const bar of group) point[bar] = x;
  });
  // Bars by lane, in the order of their calls.
  const byLane = model.lanes.map(() => []);
  for (let bar = 0; bar < count; bar++) if (visible[bar]) byLane[model.lane[bar]].push(bar);
  // Rows without visible bars are left out.
  const rows = [];
  model.rows.forEach((row, index) => {
    let any = false;
    for (let lane = 0; lane < row.lanes; lane++) any = any || byLane[row.first + lane].length > 0;
    if (any) rows.push(index);
  });
  const wrong = problem && problem.bars.length && visible[problem.bars[0]];
  let edge = NONE;
  if (wrong) edge = problem.event < events && visible[eventBar[problem.event]] ? cells[problem.event] + 1 : width;
  const links = shown.filter((group) => group.length > 1).map((group) => ({ bars: [...group], x: point[group[0]], missing: false }));
  if (problem) {
    for (const group of problem.anticipated) {
      const bars = group.filter((bar) => visible[bar]);
      if (bars.length) links.push({ bars, x: Math.max(...bars.map((bar) => left[bar])) + 1.5, missing: true });
    }
  }
  links.sort((one, other) => one.x - other.x);
  // An annotation is before the first visible event after it.
  const annotations = data.annotations.map(([position]) => {
    let low = 0, high = marks.length;
    while (low < high) {
      const half = (low + high) >> 1;
      if (marks[half] < position) low = half + 1; else high = half;
    }
    return low < marks.length ? cells[marks[low]] : width;
  });
  return { left, right, point, width, byLane, rows, edge, links, cells, marks, annotations, steps: shown.map((group) => group[0]) };
}

// Compares two texts by whole words. Returns [common beginning, removed, added, common end].
function difference(before, after) {
  const inWord = (text, at) => at > 0 && at < text.length && /[\w.-]/.test(text[at - 1]) && /[\w.-]/.test(text[at]);
  let front = 0;
  const least = Math.min(before.length, after.length);
  while (front < least && before[front] === after[front]) front++;
  while (front > 0 && (inWord(before, front) || inWord(after, front))) front--;
  let back = 0;
  while (back < least - front && before[before.length - 1 - back] === after[after.length - 1 - back]) back++;
  while (back > 0 && (inWord(before, before.length - back) || inWord(after, after.length - back))) back--;
  return [before.slice(0, front), before.slice(front, before.length - back), after.slice(front, after.length - back),
    back ? after.slice(-back) : ""];
}

// Drawing. A view is the visible part: `x` and `y` are the cell and the pixel at its upper left, `scale` is the width of a
// cell in pixels.

// The height of the axis, and of the strip with the annotations below it. Both stay at the top.
const AXIS = 26, STRIP = 18;

function headOf(model) { return model.data.annotations.length ? AXIS + STRIP : AXIS; }

// A bar that is narrower than this many pixels is drawn as a mark.
const SMALL = 12;

// Rows are large if there are few, and small if there are many. A lane has room for a bar and, if there is an order, for a point at its lower
// edge: the text is above the point.
function rowMetrics(rows, room, hasPoints) {
  const lane = Math.max(hasPoints ? 29 : 20, Math.min(46, Math.floor(room / Math.max(1, rows)) - 4));
  const bar = Math.round(lane * (hasPoints || lane > 30 ? 0.62 : 0.8));
  const font = Math.min(13, Math.max(10, bar * 0.5));
  const digits = Math.max(9, font - 2.5);
  const half = digits * 0.68;
  const point = Math.max(bar - 1, 3 + font + half);
  const text = hasPoints ? Math.min(bar / 2, point - half - font / 2) : bar / 2;
  const top = Math.max(2, Math.floor((lane - (hasPoints ? point + half : bar)) / 2));
  return { lane, bar, font, digits, half, text, point, top };
}

function readColors(element) {
  const style = getComputedStyle(element);
  const colors = {};
  for (const name of ["paper", "ink", "soft", "line", "row", "bar", "barline", "small", "bartext", "core", "coreline", "wrong", "wrongline",
    "point", "pointtext", "path", "match", "focus", "meanwhile"]) {
    colors[name] = style.getPropertyValue("--" + name).trim();
  }
  return colors;
}

// Returns the first bar of a lane that ends after a cell.
function firstBehind(bars, right, cell) {
  let low = 0, high = bars.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (right[bars[middle]] < cell) low = middle + 1; else high = middle;
  }
  return low;
}

function laneTops(scene, model) {
  const tops = new Float64Array(model.lanes.length).fill(NONE);
  let top = headOf(model) + 6;
  for (const row of scene.places.rows) {
    const { first, lanes } = model.rows[row];
    for (let lane = 0; lane < lanes; lane++) {
      tops[first + lane] = top;
      top += scene.metrics.lane;
    }
    top += 4;
  }
  scene.tops = tops;
  scene.height = top + 8;
}

// The importance of a bar: if several bars share a pixel, the most important one determines the color of the pixel.
const OTHER = 0, PLAIN = 1, CONFLICTING = 2, CORE = 3, MATCH = 4, WRONG = 5;

function weight(model, scene, bar) {
  const mark = model.mark[bar];
  if (mark === REFUSED || mark === STUCK) return WRONG;
  if (scene.matches && scene.matches[bar]) return MATCH;
  if (model.core[bar]) return CORE;
  if (mark === CONFLICT) return CONFLICTING;
  return model.other[bar] ? OTHER : PLAIN;
}

// The opacity of bars and points that do not match the search, or that do not concern the problem.
const DIM = 0.35;

function isDimmed(model, scene, bar) {
  return scene.matches ? !scene.matches[bar] : model.other[bar] === 1;
}

// Summarizes a lane: for each of its `STRETCHES` equal parts, 0 if it has no bar, or else 1 plus the importance of its most
// important bar.
const STRETCHES = 4096;

function coarseLane(model, scene, lane) {
  const { places } = scene;
  const stretches = new Uint8Array(STRETCHES + 1);
  const each = Math.max(1, places.width) / STRETCHES;
  for (const bar of places.byLane[lane]) {
    const matters = weight(model, scene, bar) + 1;
    const end = Math.min(STRETCHES, Math.floor((places.right[bar] - 0.01) / each));
    for (let at = Math.floor(places.left[bar] / each); at <= end; at++) if (stretches[at] < matters) stretches[at] = matters;
  }
  return stretches;
}

function drawCoarse(context, scene, stretches, top, toX, width) {
  const each = Math.max(1, scene.places.width) / STRETCHES;
  const { colors, metrics } = scene;
  const fills = [colors.small, colors.small, colors.coreline, colors.coreline, colors.match, colors.wrongline];
  for (let at = 0; at < STRETCHES;) {
    const matters = stretches[at];
    let end = at + 1;
    while (end < STRETCHES && stretches[end] === matters) end++;
    const x = toX(at * each);
    if (x > width) break;
    if (matters) {
      context.fillStyle = fills[matters - 1];
      context.globalAlpha = matters - 1 === OTHER ? DIM : 1;
      context.fillRect(x, top, Math.max(matters - 1 > PLAIN ? 2 : 0.5, toX(end * each) - x), metrics.bar);
      context.globalAlpha = 1;
    }
    at = end;
  }
}

function drawScene(context, scene, model, size) {
  const { places, colors, view, gutter, metrics, tops } = scene;
  const { left, right, point } = places;
  const { width, height } = size;
  const toX = (cell) => gutter + (cell - view.x) * view.scale;
  const fromX = (pixel) => view.x + (pixel - gutter) / view.scale;
  // Letters are no wider than a cell, unless they would then be too small to read.
  const font = Math.min(metrics.font, Math.max(10, view.scale / 0.605));
  context.clearRect(0, 0, width, height);
  context.fillStyle = colors.paper;
  context.fillRect(0, 0, width, height);
  context.textBaseline = "middle";
  const seenLeft = view.x, seenRight = fromX(width);

  for (const row of places.rows) {
    const { first, lanes } = model.rows[row];
    const y = tops[first] - view.y;
    context.fillStyle = colors.row;
    context.fillRect(0, y, width, metrics.lane * lanes);
  }

  // Draw the line at the problem.
  if (places.edge !== NONE) {
    const x = toX(places.edge);
    if (x >= gutter && x <= width) {
      context.strokeStyle = colors.wrongline;
      context.setLineDash([3, 4]);
      context.lineWidth = 1;
      context.beginPath();
      context.moveTo(x, AXIS);
      context.lineTo(x, height);
      context.stroke();
      context.setLineDash([]);
    }
  }

  // Draw the lines of annotations.
  const { annotations } = places;
  const firstSeen = annotations.findIndex((cell) => cell >= seenLeft);
  if (firstSeen >= 0) {
    context.strokeStyle = colors.meanwhile;
    context.lineWidth = 1;
    context.setLineDash([1, 3]);
    context.beginPath();
    for (let index = firstSeen, last = -Infinity; index < annotations.length && annotations[index] <= seenRight; index++) {
      const x = Math.round(toX(annotations[index])) - 0.5;
      if (x - last < 2) continue;
      last = x;
      context.moveTo(x, AXIS);
      context.lineTo(x, height);
    }
    context.stroke();
    context.setLineDash([]);
  }

  // Link operations that took effect together.
  const topOf = (bar) => tops[model.lane[bar]] - view.y + metrics.top;
  const edgeOf = (bar) => topOf(bar) + metrics.point;
  if (view.scale > 0.6) {
    for (const { bars, x: cell, missing } of places.links) {
      if (cell < seenLeft - 2) continue;
      if (cell > seenRight + 2) break;
      const x = toX(cell);
      const ends = bars.map(edgeOf);
      context.strokeStyle = missing ? colors.wrongline : colors.path;
      context.lineWidth = 2.5;
      if (missing) context.setLineDash([6, 4]);
      context.beginPath();
      context.moveTo(x, Math.min(...ends));
      context.lineTo(x, Math.max(...ends));
      context.stroke();
      context.setLineDash([]);
      if (missing) {
        for (const y of ends) {
          context.fillStyle = colors.wrongline;
          context.beginPath();
          context.arc(x, y, 4, 0, 7);
          context.fill();
        }
      }
    }
  }

  // Draw the order as a line from point to point. Draw it before the bars, so that it does not cross text.
  const steps = places.steps;
  const firstStep = (cell) => {
    let low = 0, high = steps.length;
    while (low < high) {
      const half = (low + high) >> 1;
      if (point[steps[half]] < cell) low = half + 1; else high = half;
    }
    return low;
  };
  const start = Math.max(0, firstStep(seenLeft) - 1), end = Math.min(steps.length - 1, firstStep(seenRight));
  const hasPoints = steps.length > 0 && end - start < 600 && view.scale > 1.2;
  if (hasPoints) {
    context.strokeStyle = colors.path;
    context.globalAlpha = 0.5;
    context.lineWidth = 1.25;
    context.beginPath();
    for (let index = start; index <= end; index++) {
      const bar = steps[index];
      const x = toX(point[bar]), y = edgeOf(bar);
      if (index === start) context.moveTo(x, y);
      else {
        const before = steps[index - 1];
        const beforeX = toX(point[before]), beforeY = edgeOf(before), bend = Math.min(40, (x - beforeX) / 2);
        context.bezierCurveTo(beforeX + bend, beforeY, x - bend, y, x, y);
      }
    }
    context.stroke();
    context.globalAlpha = 1;
  }

  const fills = [colors.bar, colors.bar, colors.bar, colors.core, colors.bar, colors.wrong];
  const strokes = [colors.barline, colors.barline, colors.coreline, colors.coreline, colors.match, colors.wrongline];
  context.font = `${font}px ui-monospace, "DejaVu Sans Mono", "SF Mono", Menlo, Consolas, monospace`;
  const letter = context.measureText("0").width;
  let drawn = 0;
  // If several bars share each pixel, draw summaries of the lanes.
  const isFar = view.scale * (places.width / STRETCHES) < 1.2;
  // Marks the selected bar if it is too small to have a frame of its own.
  const markSelected = (lane, top) => {
    const bar = scene.selected;
    if (bar === NONE || model.lane[bar] !== lane || right[bar] <= 0) return;
    const x = toX(left[bar]);
    if (toX(right[bar]) - x >= SMALL || x < gutter || x > width) return;
    context.strokeStyle = colors.focus;
    context.lineWidth = 2;
    context.strokeRect(x - 3, top - 3, 8, metrics.bar + 6);
  };
  for (const row of places.rows) {
    for (let lane = model.rows[row].first; lane < model.rows[row].first + model.rows[row].lanes; lane++) {
      const top = tops[lane] - view.y + metrics.top;
      if (top < -metrics.lane || top > height) continue;
      const bars = places.byLane[lane];
      if (isFar && bars.length > 500) {
        if (!scene.coarse) scene.coarse = new Map();
        if (!scene.coarse.has(lane)) scene.coarse.set(lane, coarseLane(model, scene, lane));
        drawCoarse(context, scene, scene.coarse.get(lane), top, toX, width);
        markSelected(lane, top);
        continue;
      }
      let runStart = NONE, runEnd = 0, runWeight = 0;
      const endRun = () => {
        if (runStart === NONE) return;
        context.fillStyle = runWeight > PLAIN ? strokes[runWeight] : colors.small;
        context.globalAlpha = runWeight === OTHER ? DIM : 1;
        context.fillRect(runStart, top, Math.max(runWeight > PLAIN ? 2 : 1, runEnd - runStart - 0.6), metrics.bar);
        context.globalAlpha = 1;
        runStart = NONE;
        drawn++;
      };
      for (let index = firstBehind(bars, right, seenLeft); index < bars.length; index++) {
        const bar = bars[index];
        if (left[bar] > seenRight) break;
        const x = toX(left[bar]), end = toX(right[bar]);
        if (end - x < SMALL) {
          // Bars that are too small are joined if they touch.
          const matters = weight(model, scene, bar);
          if (runStart !== NONE && x - runEnd < 0.8 && end - runStart < 2.5) {
            runEnd = Math.max(runEnd, end);
            runWeight = Math.max(runWeight, matters);
          } else {
            endRun();
            runStart = x;
            runEnd = Math.max(end, x + 1);
            runWeight = matters;
          }
          continue;
        }
        endRun();
        drawn++;
        const matters = weight(model, scene, bar);
        const isDim = isDimmed(model, scene, bar);
        const isPending = model.ret[bar] === NONE;
        const from = Math.max(x, gutter - 12), to = Math.min(end - 1.5, width + 12);
        context.globalAlpha = isDim ? DIM : 1;
        context.fillStyle = fills[matters];
        context.strokeStyle = strokes[matters];
        context.lineWidth = matters === WRONG ? 2 : matters > PLAIN ? 1.5 : 1;
        context.beginPath();
        context.roundRect(from + 0.5, top + 0.5, Math.max(2, to - from - 1), metrics.bar - 1, Math.min(6, (end - x) / 6));
        context.fill();
        if (isPending) context.setLineDash([5, 4]);
        context.stroke();
        if (isPending) context.setLineDash([]);
        if (bar === scene.selected || bar === scene.hovered) {
          context.globalAlpha = 1;
          context.strokeStyle = colors.focus;
          context.lineWidth = bar === scene.selected ? 2.5 : 1.5;
          context.beginPath();
          context.roundRect(from - 1.5, top - 1.5, to - from + 3, metrics.bar + 3, 7);
          context.stroke();
          context.globalAlpha = isDim ? DIM : 1;
        }
        // The text stays visible as long as its bar is.
        const textFrom = Math.max(from, gutter) + 6;
        const cross = matters === WRONG ? 9 : 2;
        const room = Math.floor((Math.min(to, width) - textFrom - cross) / letter);
        if (room >= 2) {
          let text = barText(model, bar);
          if (text.length > room) text = text.slice(0, Math.max(1, room - 1)) + "…";
          context.fillStyle = matters === WRONG ? colors.ink : colors.bartext;
          context.fillText(text, textFrom, top + metrics.text + 0.5);
        }
        context.globalAlpha = 1;
      }
      endRun();
      markSelected(lane, top);
    }
  }

  // Draw the points of the order.
  if (hasPoints) {
    const { digits, half: tall } = metrics;
    context.font = `600 ${digits}px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace`;
    const digit = context.measureText("0").width;
    context.textAlign = "center";
    for (const group of shownGroups(places, model, start, end)) {
      const step = String(model.step[group[0]]);
      const isWide = view.scale * (step.length + 1) > digit * step.length + 4;
      for (const bar of group) {
        if (places.right[bar] <= 0 || point[bar] === NONE) continue;
        const x = toX(point[bar]), y = edgeOf(bar);
        context.globalAlpha = isDimmed(model, scene, bar) ? DIM : 1;
        context.fillStyle = colors.point;
        context.beginPath();
        if (isWide) {
          const half = Math.max(tall, (digit * step.length) / 2 + 4);
          context.roundRect(x - half, y - tall, half * 2, tall * 2, tall);
          context.fill();
          context.fillStyle = colors.pointtext;
          context.fillText(step, x, y + 0.5);
        } else {
          context.arc(x, y, 2.5, 0, 7);
          context.fill();
        }
      }
    }
    context.globalAlpha = 1;
    context.textAlign = "left";
  }

  // A refused operation has a cross at its end.
  const problem = model.data.problem;
  if (problem && view.scale > 0.8) {
    context.textAlign = "center";
    context.font = `700 11px system-ui, "DejaVu Sans", sans-serif`;
    for (const bar of problem.bars) {
      if (right[bar] <= 0 || tops[model.lane[bar]] === NONE) continue;
      const x = Math.min(toX(right[bar]) - 1, width - 11), y = topOf(bar) + 1;
      if (x < gutter || toX(left[bar]) > width) continue;
      context.fillStyle = colors.wrongline;
      context.beginPath();
      context.arc(x, y, 8, 0, 7);
      context.fill();
      context.fillStyle = colors.paper;
      context.fillText("✗", x, y + 0.5);
    }
    context.textAlign = "left";
  }

  // Draw the names of rows over everything else.
  context.fillStyle = colors.paper;
  context.fillRect(0, 0, gutter, height);
  context.font = `${Math.min(13, metrics.lane * 0.55)}px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif`;
  for (const row of places.rows) {
    const y = tops[model.rows[row].first] - view.y;
    context.fillStyle = colors.row;
    context.fillRect(0, y, gutter, metrics.lane * model.rows[row].lanes);
    context.fillStyle = colors.soft;
    context.fillText(model.rows[row].label, 16, y + metrics.lane / 2 + 0.5, gutter - 24);
  }
  drawAxis(context, scene, model, width);
  context.strokeStyle = colors.line;
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(gutter - 0.5, 0);
  context.lineTo(gutter - 0.5, height);
  context.stroke();
  return drawn;
}

// The axis: numbers of events. It stays at the top, over rows that are scrolled.
function drawAxis(context, scene, model, width) {
  const { places, colors, view, gutter } = scene;
  const { cells, marks, edge } = places;
  const toX = (cell) => gutter + (cell - view.x) * view.scale;
  context.fillStyle = colors.paper;
  context.fillRect(0, 0, width, AXIS);
  context.strokeStyle = colors.line;
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(0, AXIS - 0.5);
  context.lineTo(width, AXIS - 0.5);
  context.stroke();
  context.font = '11px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
  const middle = AXIS / 2 - 1;
  // The event of the problem is labeled first.
  let from = Infinity, to = -Infinity;
  if (edge !== NONE) {
    const x = toX(edge), text = model.data.problem.event < model.eventBar.length ? "refused here" : "never returned";
    const half = context.measureText(text).width / 2;
    if (x >= gutter && x <= width) {
      const at = Math.max(gutter + half + 4, Math.min(x, width - half - 4));
      from = at - half - 6;
      to = at + half + 6;
      context.textAlign = "center";
      context.fillStyle = colors.wrongline;
      context.fillText(text, at, middle);
      context.fillRect(x - 0.5, AXIS - 6, 1, 6);
    }
  }
  context.textAlign = "center";
  context.fillStyle = colors.soft;
  let low = 0, high = marks.length;
  while (low < high) {
    const half = (low + high) >> 1;
    if (cells[marks[half]] < view.x) low = half + 1; else high = half;
  }
  let free = gutter + 4;
  for (let index = low; index < marks.length;) {
    const x = toX(cells[marks[index]]);
    if (x > width) break;
    const text = String(marks[index]), half = context.measureText(text).width / 2;
    if (x - half >= free && x + half < width && (x + half < from || x - half > to)) {
      context.fillText(text, x, middle);
      context.fillRect(x - 0.5, AXIS - 6, 1, 6);
      free = x + half + 60;
    }
    // Continue with the first event that has room for a label.
    const cell = view.x + (Math.max(free, x + 1) - gutter) / view.scale;
    let least = index + 1, most = marks.length;
    while (least < most) {
      const between = (least + most) >> 1;
      if (cells[marks[between]] < cell) least = between + 1; else most = between;
    }
    index = least;
  }
  context.textAlign = "left";
  if (model.data.annotations.length) drawAnnotations(context, scene, model, width);
  context.fillStyle = colors.paper;
  context.fillRect(0, 0, gutter, AXIS - 1);
  context.fillStyle = colors.soft;
  context.fillText("event", 16, middle);
}

// Draws the strip of annotations. Each text may extend to the next annotation.
function drawAnnotations(context, scene, model, width) {
  const { places, colors, view, gutter } = scene;
  const toX = (cell) => gutter + (cell - view.x) * view.scale;
  context.fillStyle = colors.paper;
  context.fillRect(0, AXIS, width, STRIP);
  const letter = context.measureText("n").width;
  const middle = AXIS + STRIP / 2;
  const { annotations } = model.data;
  context.fillStyle = colors.meanwhile;
  for (let index = 0; index < annotations.length; index++) {
    const x = toX(places.annotations[index]);
    if (x > width) break;
    // If several annotations are at the same place, only the last is labeled.
    const next = index + 1 < annotations.length ? Math.min(width, toX(places.annotations[index + 1])) : width;
    if (next < gutter) continue;
    if (x >= gutter) {
      context.beginPath();
      context.moveTo(x - 4, middle - 4);
      context.lineTo(x + 4, middle - 4);
      context.lineTo(x, middle + 4);
      context.fill();
    }
    const from = Math.max(x + 7, gutter + 4), room = Math.floor((next - from - 6) / letter);
    const text = annotations[index][2];
    if (room >= 3) context.fillText(text.length > room ? text.slice(0, room - 1) + "…" : text, from, middle + 0.5);
  }
  context.strokeStyle = colors.line;
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(0, AXIS + STRIP - 0.5);
  context.lineTo(width, AXIS + STRIP - 0.5);
  context.stroke();
  context.fillStyle = colors.paper;
  context.fillRect(0, AXIS, gutter, STRIP - 1);
  context.fillStyle = colors.soft;
  context.fillText("meanwhile", 16, middle, gutter - 20);
}

// Returns the groups that have points among the given steps.
function* shownGroups(places, model, start, end) {
  for (let index = start; index <= end && index < places.steps.length; index++) {
    const bar = places.steps[index];
    if (!model.data.together.length) yield [bar];
    else yield model.groups[model.groupOf(bar)];
  }
}

function drawMap(context, scene, model, size) {
  const { places, colors, view, gutter } = scene;
  const { width, height } = size;
  context.clearRect(0, 0, width, height);
  context.fillStyle = colors.paper;
  context.fillRect(0, 0, width, height);
  const toX = (cell) => gutter + (cell / Math.max(1, places.width)) * (width - gutter - 8);
  if (!scene.density || scene.density.length !== Math.ceil(width)) {
    const density = new Float64Array(Math.ceil(width));
    for (const bars of places.byLane) {
      for (const bar of bars) {
        const x = Math.floor(toX(places.left[bar]));
        density[x] += 1;
      }
    }
    scene.density = density;
    scene.densest = density.reduce((most, value) => Math.max(most, value), 1);
  }
  context.fillStyle = colors.barline;
  for (let x = 0; x < scene.density.length; x++) {
    if (scene.density[x] > 0) {
      const tall = Math.max(2, (scene.density[x] / scene.densest) * (height - 12));
      context.fillRect(x, height - 5 - tall, 1, tall);
    }
  }
  if (scene.matches) {
    context.fillStyle = colors.match;
    for (const bar of scene.matchList) context.fillRect(toX(places.left[bar]), 2, 1.5, 5);
  }
  context.fillStyle = colors.coreline;
  for (const bar of model.data.core) if (places.right[bar] > 0) context.fillRect(toX(places.left[bar]) - 1, height - 5, 3, 4);
  if (places.edge !== NONE) {
    context.fillStyle = colors.wrongline;
    context.fillRect(toX(places.edge) - 1, 0, 2, height);
  }
  const from = toX(Math.max(0, view.x)), to = toX(Math.min(places.width, view.x + (width - gutter) / view.scale));
  context.strokeStyle = colors.focus;
  context.lineWidth = 1.5;
  context.strokeRect(from, 1.5, Math.max(4, to - from), height - 3);
  context.fillStyle = colors.soft;
  context.font = '11px system-ui, "DejaVu Sans", sans-serif';
  context.textBaseline = "middle";
  context.fillText("all", 16, height / 2);
}

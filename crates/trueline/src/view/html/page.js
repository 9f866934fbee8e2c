// The page: selection, search, filters and navigation.

const byId = (id) => document.getElementById(id);

function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

function start() {
  const model = unpack(JSON.parse(byId("data").textContent));
  const { data } = model;
  const groupIndex = new Map();
  if (data.together.length) model.groups.forEach((group, index) => group.forEach((bar) => groupIndex.set(bar, index)));
  model.groupOf = (bar) => groupIndex.get(bar);
  for (const part of document.querySelectorAll(".tools, .stage, #details, #order")) part.hidden = false;

  const canvas = byId("view"), map = byId("map"), tip = byId("tip");
  const context = canvas.getContext("2d"), mapContext = map.getContext("2d");
  const scene = {
    places: null, colors: readColors(document.documentElement), view: { x: 0, y: 0, scale: 7 }, gutter: 110, metrics: null, tops: null,
    height: 0, selected: NONE, hovered: NONE, matches: null, matchList: [], density: null, coarse: null,
  };
  let size = { width: 0, height: 0 };
  let visible = new Uint8Array(model.count).fill(1);
  let shownCount = model.count;
  let frame = 0;
  const calm = matchMedia("(prefers-reduced-motion: reduce)");

  // Sizes and drawing.

  function fitCanvas(target, targetContext, width, height) {
    const ratio = window.devicePixelRatio || 1;
    target.style.height = height + "px";
    target.width = Math.max(1, Math.round(width * ratio));
    target.height = Math.max(1, Math.round(height * ratio));
    targetContext.setTransform(ratio, 0, 0, ratio, 0, 0);
  }

  function resize(printing) {
    const width = printing || canvas.parentElement.clientWidth;
    const lanes = scene.places.rows.reduce((sum, row) => sum + model.rows[row].lanes, 0);
    const room = printing ? 4000 : Math.max(150, Math.min(window.innerHeight * 0.46, window.innerHeight - 380));
    scene.metrics = rowMetrics(lanes, room - headOf(model) - 12, model.order.length > 0);
    laneTops(scene, model);
    const height = Math.min(Math.max(scene.height, 110), Math.max(room, 110));
    size = { width, height };
    fitCanvas(canvas, context, width, height);
    fitCanvas(map, mapContext, width, 34);
    context.font = '13px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
    const longest = scene.places.rows.reduce((most, row) => Math.max(most, context.measureText(model.rows[row].label).width), 40);
    scene.gutter = Math.min(180, longest + 32);
    scene.density = null;
    scene.coarse = null;
    map.hidden = Boolean(printing) || fitScale() >= 5;
  }

  function room() { return size.width - scene.gutter; }

  function fitScale() { return (room() - 24) / Math.max(1, scene.places.width); }

  function keepInside() {
    const { view, places } = scene;
    view.scale = Math.min(40, Math.max(Math.min(fitScale(), 7), view.scale));
    const seen = room() / view.scale;
    const most = Math.max(0, places.width - seen + 24 / view.scale);
    view.x = Math.max(-8 / view.scale, Math.min(view.x, most));
    view.y = Math.max(0, Math.min(view.y, scene.height - size.height));
  }

  function paint() {
    frame = 0;
    keepInside();
    drawScene(context, scene, model, size);
    drawMap(mapContext, scene, model, { width: size.width, height: 34 });
  }

  function repaint() { if (!frame) frame = requestAnimationFrame(paint); }

  // Navigation.

  let glide = 0;
  function moveTo(x, y, scale) {
    cancelAnimationFrame(glide);
    const { view } = scene;
    const from = { ...view };
    const far = Math.abs(x - from.x) * from.scale > size.width * 4 || scale !== from.scale;
    if (calm.matches || far) {
      Object.assign(view, { x, y, scale });
      repaint();
      return;
    }
    const begun = performance.now();
    const advance = (now) => {
      const part = Math.min(1, (now - begun) / 180), eased = 1 - (1 - part) ** 3;
      view.x = from.x + (x - from.x) * eased;
      view.y = from.y + (y - from.y) * eased;
      paint();
      if (part < 1) glide = requestAnimationFrame(advance);
    };
    glide = requestAnimationFrame(advance);
  }

  function zoom(factor, atPixel) {
    const { view, gutter } = scene;
    const pixel = atPixel === undefined ? gutter + room() / 2 : atPixel;
    const cell = view.x + (pixel - gutter) / view.scale;
    const least = Math.min(fitScale(), 7);
    view.scale = Math.min(40, Math.max(least, view.scale * factor));
    view.x = cell - (pixel - gutter) / view.scale;
    repaint();
  }

  function readable() { return Math.max(7.4, Math.min(14, fitScale())); }

  // Show everything if the text stays readable.
  function beginning() { return fitScale() >= 5 ? Math.min(14, fitScale()) : readable(); }

  function fit() { moveTo(-1, 0, Math.min(14, fitScale())); }

  // Shows a bar.
  function reveal(bar, scale) {
    const { places, view, tops, metrics } = scene;
    const target = scale || view.scale;
    const seen = room() / target;
    const from = places.left[bar], to = places.right[bar];
    let x = view.x;
    if (scale || from < x + 2 || to > x + seen - 2) {
      const middle = to - from > seen * 0.8 ? from + seen * 0.4 : (from + to) / 2;
      // An operation is refused when it returns, so show its end.
      x = bar === firstProblem() ? to - seen * 0.75 : middle - seen * 0.5;
    }
    let y = view.y;
    const top = tops[model.lane[bar]];
    if (top - y < headOf(model) || top + metrics.lane - y > size.height) y = top - size.height / 2;
    moveTo(x, y, target);
  }

  function firstProblem() { return data.problem && data.problem.bars.length ? data.problem.bars[0] : NONE; }

  function jump() {
    let bar = firstProblem();
    if (bar === NONE) return;
    if (!visible[bar]) clearFilters();
    scene.view.scale = Math.max(scene.view.scale, readable());
    select(bar);
    reveal(bar, Math.max(scene.view.scale, readable()));
  }

  // The selection.

  function tags(bar) {
    const made = [];
    if (model.mark[bar] === REFUSED) made.push(element("span", "refused", "tag wrong"));
    if (model.mark[bar] === STUCK) made.push(element("span", "should have returned", "tag wrong"));
    if (model.mark[bar] === CONFLICT) made.push(element("span", "conflicts", "tag core"));
    if (model.core[bar]) made.push(element("span", "core", "tag core"));
    return made;
  }

  function facts(bar, brief) {
    const list = element("dl");
    const add = (name, ...values) => {
      list.append(element("dt", name));
      const value = element("dd");
      value.dir = "ltr";
      value.append(...values);
      list.append(value);
    };
    const limit = (text) => (text.length > (brief ? 200 : 20000) ? text.slice(0, brief ? 200 : 20000) + "…" : text);
    const returned = model.ret[bar] !== NONE;
    const at = (line, event) => (data.lines ? "line " + line + ", " : "") + "event " + event;
    add("process", model.rows[rowOf(model, bar)].label.replace(/^process /, ""));
    add("call", limit(operationText(model, bar)), brief ? "" : "   (" + at(model.callLine[bar], model.call[bar]) + ")");
    const result = resultText(model, bar);
    if (returned) add("return", limit(result), brief ? "" : "   (" + at(model.returnLine[bar], model.ret[bar]) + ")");
    else add("return", result === null ? "never" : limit(result) + ", if it took effect");
    const problem = data.problem;
    if (model.mark[bar] === REFUSED && problem) {
      if (problem.allowed.length) add("allowed", (problem.all ? "" : "for example ") + limit(problem.allowed.join(" or ")));
      else if (problem.all) add("allowed", "nothing: it could not have returned then");
    }
    if (model.step[bar]) {
      const partners = data.together.length ? [...model.groups[model.groupOf(bar)]].filter((other) => other !== bar) : [];
      add("order", model.step[bar] + " of " + data.stepsTotal);
      if (partners.length) add("together with", partners.map((other) => barText(model, other) + " of " + model.rows[rowOf(model, other)].label).join(", "));
    } else if (model.order.length) add("order", "not in the order");
    const before = model.before.get(bar), after = model.after.get(bar);
    if (before !== undefined) {
      const [front, gone, fresh, back] = difference(before, after);
      if (gone === "" && fresh === "") add("state", limit(before) + "   (unchanged)");
      else {
        add("state before", limit(front), element("del", limit(gone)), limit(back));
        add("state after", limit(front), element("ins", limit(fresh)), limit(back));
      }
    } else if (model.mark[bar] === REFUSED && data.found !== null) add("state before", limit(data.found));
    return list;
  }

  function showDetails() {
    const card = byId("details");
    const bar = scene.selected;
    card.replaceChildren();
    if (bar === NONE) {
      card.append(element("h2", "Nothing selected"));
      card.append(element("p", "Click an operation, or select one with the arrow keys.", "note"));
      return;
    }
    const head = element("h2");
    const name = element("span", barText(model, bar).slice(0, 400), "mono");
    name.dir = "ltr";
    head.append(name, ...tags(bar));
    card.append(head, facts(bar, false));
    if (model.step[bar] && !model.before.has(bar) && data.states.length) {
      card.append(element("p", "States are stored only for the last " + data.states.length + " operations of the order.", "note"));
    }
  }

  // The order around the selected operation, without operations that the filters hide.
  function showOrder() {
    const card = byId("order");
    card.replaceChildren();
    const isShown = (bar) => visible[bar] === 1;
    const steps = shownCount === model.count ? model.groups : model.groups.map((group) => [...group].filter(isShown)).filter((group) => group.length);
    card.append(element("h2", data.outcome === "rejected" ? "An order that works so far" : "An order that works"));
    if (!model.groups.length) {
      card.append(element("p", data.outcome === "unknown" ? "No order is known." : "No operation took effect.", "note"));
    }
    const around = 7;
    const current = scene.selected !== NONE && model.step[scene.selected] ? model.step[scene.selected] : NONE;
    const found = current === NONE ? NONE : steps.findIndex((group) => model.step[group[0]] === current);
    const selected = found !== NONE ? found : data.problem ? steps.length - 1 : 0;
    const from = Math.max(0, Math.min(selected - around, steps.length - 2 * around - 1));
    const list = element("ol");
    for (let index = from; index < Math.min(steps.length, from + 2 * around + 1); index++) {
      for (const bar of steps[index]) list.append(orderEntry(bar, String(model.step[bar])));
    }
    const problem = firstProblem();
    if (problem !== NONE && !model.step[problem] && from + 2 * around + 1 >= steps.length) {
      for (const bar of data.problem.bars.filter(isShown)) list.append(orderEntry(bar, "✗"));
    }
    card.append(list);
    if (steps.length > 2 * around + 1) card.append(element("p", "Steps " + (from + 1) + " to " + Math.min(steps.length, from + 2 * around + 1) + " of " + steps.length + ".", "note"));
    const hidden = model.groups.length - steps.length;
    if (hidden > 0) {
      const steps = hidden === 1 ? "1 step is" : hidden + " steps are";
      card.append(element("p", filters.core ? steps + " not listed: only the core is shown." : steps + " not listed, because of the filters.", "note"));
    }
  }

  // The list of annotations.
  function showAnnotations() {
    const { annotations } = data, most = 200;
    if (!annotations.length) return;
    const card = byId("meanwhile"), list = element("ol");
    card.hidden = false;
    card.append(element("h2", "What happened meanwhile"));
    annotations.slice(0, most).forEach(([position, line, text], index) => {
      const item = element("li"), button = element("button");
      const said = element("span", text, "mono");
      said.dir = "ltr";
      said.title = text;
      button.append(element("span", String(position), "number"), said, element("span", line ? "line " + line : "", "after"));
      button.title = "before event " + position;
      button.addEventListener("click", () => {
        const scale = Math.max(scene.view.scale, readable());
        moveTo(scene.places.annotations[index] - room() / scale / 2, scene.view.y, scale);
      });
      item.append(button);
      list.append(item);
    });
    card.append(list);
    if (annotations.length > most) card.append(element("p", annotations.length - most + " more annotations are not listed.", "note"));
  }

  // The legend: the signs that occur on this page.
  function showLegend() {
    const legend = byId("legend");
    const add = (sign, text, mark) => {
      const item = element("li"), swatch = element("span", mark, "swatch " + sign);
      swatch.setAttribute("aria-hidden", "true");
      item.append(swatch, element("span", text));
      legend.append(item);
    };
    const problem = data.problem;
    const hasMark = (mark) => data.marks.some(([, other]) => other === mark);
    add("plain", "operation, from call to return");
    if (model.ret.includes(NONE)) add("pending", "never returned");
    if (hasMark(REFUSED)) add("wrong", "refused: no order allows its result");
    if (hasMark(STUCK)) add("wrong", "should have returned");
    if (data.hasCore) add("core", "core: these calls have no legal order");
    if (data.marks.some(([bar, mark]) => mark === CONFLICT && !model.core[bar])) add("conflict", "in conflict with others");
    if (data.others) add("other", "not on " + data.subject);
    if (model.order.length) add("number", problem ? "position in an order that works so far" : "position in an order that works", "1");
    if (data.together.length) add("link", "took effect together");
    if (data.annotations.length) add("meanwhile", "something that happened meanwhile", "▼");
    if (problem && problem.anticipated.length) add("missing", "should have taken effect together");
    legend.append(element("li", "Events are drawn in order; distances do not show time."));
  }

  const indexOfStep = new Map();
  model.groups.forEach((group, index) => indexOfStep.set(model.step[group[0]], index));
  function stepIndex(bar) { return indexOfStep.get(model.step[bar]); }

  // Shows the state after an operation if this state is short, and otherwise the difference to the state before.
  function change(bar) {
    const before = model.before.get(bar), after = model.after.get(bar);
    if (after === undefined) return model.mark[bar] === REFUSED && data.found !== null && data.found.length <= 30 ? data.found : "";
    if (after.length <= 30) return after;
    const [, gone, fresh] = difference(before, after);
    const parts = [];
    const trim = (text) => text.replace(/^[\s,]+|[\s,]+$/g, "").slice(0, 60);
    if (trim(gone)) parts.push("− " + trim(gone));
    if (trim(fresh)) parts.push("+ " + trim(fresh));
    return parts.join("  ") || "unchanged";
  }

  function orderEntry(bar, number) {
    const item = element("li");
    const button = element("button");
    button.append(element("span", number, number === "✗" ? "number wrong" : "number"));
    const text = element("span", barText(model, bar).slice(0, 200), number === "✗" ? "mono wrong" : "mono");
    text.dir = "ltr";
    const after = element("span", change(bar), "mono after");
    after.dir = "ltr";
    after.title = "the state after this operation, or the parts added (+) and removed (−)";
    button.append(text, after);
    if (bar === scene.selected) button.setAttribute("aria-current", "true");
    button.addEventListener("click", () => {
      if (!visible[bar]) clearFilters();
      select(bar);
      reveal(bar, scene.view.scale < 2 ? readable() : 0);
    });
    item.append(button);
    return item;
  }

  function sentence(bar) {
    const parts = [barText(model, bar).slice(0, 200), model.rows[rowOf(model, bar)].label, placeText(model, bar)];
    if (model.mark[bar] === REFUSED) parts.push("refused");
    if (model.mark[bar] === STUCK) parts.push("should have returned");
    if (model.core[bar]) parts.push("in the core");
    if (model.step[bar]) parts.push("number " + model.step[bar] + " in the order");
    if (model.ret[bar] === NONE) parts.push("never returned");
    return parts.join(", ");
  }

  function select(bar) {
    scene.selected = bar;
    showDetails();
    showOrder();
    byId("live").textContent = bar === NONE ? "" : sentence(bar);
    repaint();
  }

  // Filters and search.

  const filters = { process: "", kind: "", key: "", core: Boolean(data.coreFirst) };

  function applyFilters() {
    const { process, kind, key, core } = filters;
    shownCount = 0;
    for (let bar = 0; bar < model.count; bar++) {
      const op = model.op[bar];
      const shows = (process === "" || rowOf(model, bar) === Number(process)) && (kind === "" || data.callKinds[op] === Number(kind))
        && (key === "" || (data.callKeys.length > 0 && data.callKeys[op] >= 0 && data.keys[data.callKeys[op]].includes(key)))
        && (!core || model.core[bar] === 1);
      visible[bar] = shows ? 1 : 0;
      shownCount += visible[bar];
    }
    const center = scene.selected !== NONE && visible[scene.selected] ? scene.selected : NONE;
    scene.places = place(model, visible);
    scene.hovered = NONE;
    resize();
    byId("empty").hidden = shownCount > 0;
    search(false);
    if (center !== NONE) reveal(center, Math.max(readable(), Math.min(scene.view.scale, 12)));
    else fit();
    showOrder();
    byId("live").textContent = shownCount + " of " + model.count + " operations are shown";
  }

  function clearFilters() {
    Object.assign(filters, { process: "", kind: "", key: "", core: false });
    byId("process").value = byId("kind").value = byId("key").value = "";
    byId("core").checked = false;
    applyFilters();
  }

  let current = NONE;
  function search(moves) {
    const wanted = byId("search").value.trim().toLowerCase();
    if (wanted === "") {
      scene.matches = null;
      scene.matchList = [];
      byId("matches").textContent = "";
    } else {
      const has = (text) => text !== null && text.toLowerCase().includes(wanted);
      const calls = data.calls.map(has), returns = data.returns.map(has), names = model.rows.map((row) => has(row.label));
      const line = /^(?:lines? )?(\d+)$/.exec(wanted);
      scene.matches = new Uint8Array(model.count);
      scene.matchList = [];
      for (let bar = 0; bar < model.count; bar++) {
        if (!visible[bar]) continue;
        const isLine = line && data.lines && wanted.startsWith("line") && (model.callLine[bar] === Number(line[1]) || model.returnLine[bar] === Number(line[1]));
        if (isLine || calls[model.op[bar]] || returns[model.result[bar]] || names[rowOf(model, bar)]) {
          scene.matches[bar] = 1;
          scene.matchList.push(bar);
        }
      }
      if (moves) {
        current = NONE;
        nextMatch(1, true);
      }
      tellMatches();
    }
    scene.coarse = null;
    byId("next").disabled = byId("previous").disabled = scene.matchList.length === 0;
    repaint();
  }

  function tellMatches() {
    const total = scene.matchList.length;
    byId("matches").textContent = total === 0 ? "no match" : (current === NONE ? "" : current + 1 + " of ") + total;
  }

  function nextMatch(direction, fromHere) {
    const total = scene.matchList.length;
    if (total === 0) return;
    if (fromHere) {
      const behind = scene.matchList.findIndex((bar) => scene.places.right[bar] >= scene.view.x);
      current = behind < 0 ? 0 : behind;
    } else current = ((current === NONE ? (direction > 0 ? -1 : 0) : current) + direction + total) % total;
    const bar = scene.matchList[current];
    select(bar);
    reveal(bar, scene.view.scale < 2 ? readable() : 0);
    tellMatches();
  }

  const addOptions = (select, labels) => labels.forEach((label, index) => {
    const option = element("option", label.slice(0, 60));
    option.value = String(index);
    select.append(option);
  });
  addOptions(byId("process"), model.rows.map((row) => row.label.replace(/^process /, "")));
  addOptions(byId("kind"), data.kinds);
  byId("keyfield").hidden = data.keys.length === 0;
  for (const key of data.keys.slice(0, 500)) {
    const option = element("option");
    option.value = key;
    byId("keys").append(option);
  }
  byId("corefield").hidden = !data.hasCore;
  byId("core").checked = filters.core;
  byId("jump").hidden = firstProblem() === NONE;
  byId("process").addEventListener("change", (event) => { filters.process = event.target.value; applyFilters(); });
  byId("kind").addEventListener("change", (event) => { filters.kind = event.target.value; applyFilters(); });
  byId("key").addEventListener("input", (event) => { filters.key = event.target.value; applyFilters(); });
  byId("core").addEventListener("change", (event) => { filters.core = event.target.checked; applyFilters(); });
  let waiting = 0;
  byId("search").addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => search(true), 60);
  });
  byId("search").addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      event.preventDefault();
      nextMatch(event.shiftKey ? -1 : 1, false);
    } else if (event.key === "Escape") {
      event.target.value = "";
      search(false);
      canvas.focus();
      event.stopPropagation();
    }
  });
  byId("next").addEventListener("click", () => nextMatch(1, false));
  byId("previous").addEventListener("click", () => nextMatch(-1, false));
  byId("jump").addEventListener("click", jump);
  byId("in").addEventListener("click", () => zoom(1.4));
  byId("out").addEventListener("click", () => zoom(1 / 1.4));
  byId("fit").addEventListener("click", fit);
  byId("clear").addEventListener("click", clearFilters);
  byId("theme").addEventListener("click", changeTheme);
  byId("help").addEventListener("click", toggleHelp);

  function toggleHelp() {
    const help = byId("keyhelp");
    help.hidden = !help.hidden;
    byId("help").setAttribute("aria-expanded", String(!help.hidden));
  }

  function changeTheme() {
    const root = document.documentElement;
    const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = isDark ? "light" : "dark";
    root.style.colorScheme = root.dataset.theme;
    recolor();
  }

  function recolor() {
    scene.colors = readColors(document.documentElement);
    repaint();
  }

  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolor);

  // The pointer.

  function barAt(pixelX, pixelY) {
    const { places, view, gutter, tops, metrics } = scene;
    if (pixelX < gutter) return NONE;
    const cell = view.x + (pixelX - gutter) / view.scale, y = pixelY + view.y;
    for (let lane = 0; lane < tops.length; lane++) {
      if (tops[lane] === NONE || y < tops[lane] || y >= tops[lane] + metrics.lane) continue;
      const bars = places.byLane[lane];
      const slack = 3 / view.scale;
      const index = firstBehind(bars, places.right, cell - slack);
      const bar = bars[index];
      return bar !== undefined && places.left[bar] <= cell + slack ? bar : NONE;
    }
    return NONE;
  }

  function showTip(bar, x, y) {
    tip.replaceChildren();
    const head = element("h2");
    const name = element("span", barText(model, bar).slice(0, 160), "mono");
    name.dir = "ltr";
    head.append(name, ...tags(bar));
    tip.append(head, facts(bar, true));
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    const below = y + 20 + box.height < window.innerHeight ? y + 20 : y - box.height - 12;
    tip.style.left = Math.max(4, Math.min(x + 14, window.innerWidth - box.width - 8)) + "px";
    tip.style.top = Math.max(4, below) + "px";
  }

  let drag = null;
  const pointers = new Map();
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, event);
    drag = { x: event.clientX, y: event.clientY, viewX: scene.view.x, viewY: scene.view.y, moved: false, spread: 0, scale: scene.view.scale };
    cancelAnimationFrame(glide);
    canvas.classList.add("drag");
  });
  canvas.addEventListener("pointermove", (event) => {
    const box = canvas.getBoundingClientRect();
    if (pointers.has(event.pointerId)) pointers.set(event.pointerId, event);
    if (pointers.size === 2) {
      const [one, other] = [...pointers.values()];
      const spread = Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY);
      if (drag.spread) zoom(spread / drag.spread, (one.clientX + other.clientX) / 2 - box.left);
      drag.spread = spread;
      drag.moved = true;
      return;
    }
    if (drag) {
      const x = event.clientX - drag.x, y = event.clientY - drag.y;
      if (Math.abs(x) + Math.abs(y) > 4) drag.moved = true;
      if (drag.moved) {
        scene.view.x = drag.viewX - x / scene.view.scale;
        scene.view.y = drag.viewY - y;
        tip.hidden = true;
        repaint();
      }
      return;
    }
    const bar = barAt(event.clientX - box.left, event.clientY - box.top);
    if (bar !== scene.hovered) {
      scene.hovered = bar;
      repaint();
    }
    if (bar === NONE) tip.hidden = true;
    else showTip(bar, event.clientX, event.clientY);
  });
  const release = (event) => {
    pointers.delete(event.pointerId);
    canvas.classList.remove("drag");
    if (drag && !drag.moved && event.type === "pointerup") {
      const box = canvas.getBoundingClientRect();
      select(barAt(event.clientX - box.left, event.clientY - box.top));
    }
    if (pointers.size === 0) drag = null;
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", () => {
    tip.hidden = true;
    scene.hovered = NONE;
    repaint();
  });
  canvas.addEventListener("dblclick", (event) => zoom(event.shiftKey ? 0.5 : 2, event.clientX - canvas.getBoundingClientRect().left));
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const unit = event.deltaMode === 1 ? 16 : 1;
    if (event.ctrlKey || event.metaKey || event.altKey) {
      zoom(Math.exp(-event.deltaY * unit * 0.004), event.clientX - canvas.getBoundingClientRect().left);
      return;
    }
    const overflows = scene.height > size.height + 1;
    const sideways = event.deltaX + (event.shiftKey || !overflows ? event.deltaY : 0);
    scene.view.x += (sideways * unit) / scene.view.scale;
    if (overflows && !event.shiftKey) scene.view.y += event.deltaY * unit;
    tip.hidden = true;
    repaint();
  }, { passive: false });

  const mapTo = (event) => {
    const box = map.getBoundingClientRect();
    const part = (event.clientX - box.left - scene.gutter) / (size.width - scene.gutter - 8);
    scene.view.x = part * scene.places.width - room() / scene.view.scale / 2;
    repaint();
  };
  map.addEventListener("pointerdown", (event) => { map.setPointerCapture(event.pointerId); mapTo(event); });
  map.addEventListener("pointermove", (event) => { if (event.buttons) mapTo(event); });

  // Keys.

  function neighbor(direction) {
    const bars = scene.places.byLane;
    if (scene.selected === NONE || !visible[scene.selected]) {
      // Select the first visible operation.
      let best = NONE;
      for (const lane of bars) {
        const bar = lane[firstBehind(lane, scene.places.right, scene.view.x)];
        if (bar !== undefined && (best === NONE || bar < best)) best = bar;
      }
      return best;
    }
    const lane = bars[model.lane[scene.selected]];
    const at = firstBehind(lane, scene.places.left, scene.places.left[scene.selected]);
    const other = lane[at + direction];
    return other === undefined ? scene.selected : other;
  }

  function otherRow(direction) {
    if (scene.selected === NONE) return neighbor(1);
    const rows = scene.places.rows;
    const middle = (scene.places.left[scene.selected] + scene.places.right[scene.selected]) / 2;
    for (let at = rows.indexOf(rowOf(model, scene.selected)) + direction; at >= 0 && at < rows.length; at += direction) {
      const lane = scene.places.byLane[model.rows[rows[at]].first];
      const bar = lane[Math.min(lane.length - 1, firstBehind(lane, scene.places.right, middle))];
      if (bar !== undefined) return bar;
    }
    return scene.selected;
  }

  function go(bar) {
    if (bar === NONE || bar === undefined) return;
    select(bar);
    reveal(bar, scene.view.scale < 2 ? readable() : 0);
  }

  function inOrder(direction) {
    if (!model.groups.length) return;
    let step = scene.selected !== NONE && model.step[scene.selected] ? stepIndex(scene.selected) + direction : direction > 0 ? 0 : model.groups.length - 1;
    // Skip steps that the filters hide.
    for (; step >= 0 && step < model.groups.length; step += direction) {
      const bar = model.groups[step].find((candidate) => visible[candidate]);
      if (bar !== undefined) return go(bar);
    }
  }

  document.addEventListener("keydown", (event) => {
    const inField = /^(input|select|textarea)$/i.test(event.target.tagName) && event.target.type !== "checkbox";
    if (event.ctrlKey || event.metaKey || event.altKey || (inField && event.key !== "Escape")) return;
    const inCanvas = event.target === canvas || event.target === document.body;
    const pan = (x, y) => {
      scene.view.x += (x * room()) / 4 / scene.view.scale;
      scene.view.y += y * 60;
      repaint();
    };
    const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    let done = true;
    if (arrows[event.key] && inCanvas) {
      const [x, y] = arrows[event.key];
      if (event.shiftKey) pan(x, y);
      else go(x ? neighbor(x) : otherRow(y));
    } else if (event.key === "Home" && inCanvas) go(visible.indexOf(1));
    else if (event.key === "End" && inCanvas) go(visible.lastIndexOf(1));
    else if (event.key === "PageDown" && inCanvas) pan(3, 0);
    else if (event.key === "PageUp" && inCanvas) pan(-3, 0);
    else {
      switch (event.key) {
        case "+": case "=": zoom(1.4); break;
        case "-": case "_": zoom(1 / 1.4); break;
        case "0": fit(); break;
        case "p": jump(); break;
        case "c": if (data.hasCore) { byId("core").checked = filters.core = !filters.core; applyFilters(); } break;
        case "n": nextMatch(1, false); break;
        case "N": nextMatch(-1, false); break;
        case "[": inOrder(-1); break;
        case "]": inOrder(1); break;
        case "/": byId("search").focus(); byId("search").select(); break;
        case "t": changeTheme(); break;
        case "?": toggleHelp(); break;
        case "Escape":
          if (!byId("keyhelp").hidden) toggleHelp();
          else {
            select(NONE);
            byId("search").value = "";
            clearFilters();
          }
          break;
        default: done = false;
      }
    }
    if (done) event.preventDefault();
  });

  // Printing.

  let screenView = null;
  window.addEventListener("beforeprint", () => {
    screenView = { theme: document.documentElement.dataset.theme, view: { ...scene.view } };
    document.documentElement.dataset.theme = "light";
    scene.colors = readColors(document.documentElement);
    resize(1000);
    scene.view.scale = Math.max(fitScale(), Math.min(scene.view.scale, 8));
    paint();
  });
  window.addEventListener("afterprint", () => {
    if (!screenView) return;
    if (screenView.theme) document.documentElement.dataset.theme = screenView.theme;
    else delete document.documentElement.dataset.theme;
    scene.colors = readColors(document.documentElement);
    resize();
    Object.assign(scene.view, screenView.view);
    repaint();
  });

  let width = 0;
  new ResizeObserver(() => {
    const now = canvas.parentElement.clientWidth + window.innerHeight / 100000;
    if (now !== width) {
      width = now;
      resize();
      repaint();
    }
  }).observe(document.body);

  // Initialization.

  showLegend();
  showAnnotations();
  applyFilters();
  if (firstProblem() !== NONE && visible[firstProblem()]) {
    select(firstProblem());
    // Do not animate, because the scale differs.
    scene.view.scale = NaN;
    reveal(firstProblem(), beginning());
  } else {
    select(NONE);
    moveTo(-1, 0, beginning());
  }
  paint();
  document.documentElement.dataset.ready = "true";
  // For tests and debugging.
  window.trueline = { model, scene, visible, barAt, size: () => size, paint };
}

start();

// Histories to draw, and the pages of them.

import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "../../../..");
const target = process.env.CARGO_TARGET_DIR ?? join(root, "target");
const trueline = process.env.TRUELINE ?? ["release", "debug"].map((profile) => join(target, profile, "trueline")).find(existsSync);
const folder = mkdtempSync(join(tmpdir(), "trueline-pages-"));

export const testdata = (name) => join(root, "testdata", name);

// Writes a history of whole operations.
export function write(name, operations) {
  const path = join(folder, name + ".jsonl");
  writeFileSync(path, operations.map((operation) => JSON.stringify(operation)).join("\n") + "\n");
  return path;
}

// Draws a history; the address of the page, and how large both are.
export function draw(history, spec, ...more) {
  const page = history.replace(/.*\//, folder + "/").replace(/\.jsonl$/, "") + ".html";
  execFileSync(trueline, ["view", "--spec", spec, "--output", page, ...more, history], { stdio: ["ignore", "ignore", "pipe"] });
  return { url: pathToFileURL(page).href, bytes: statSync(page).size, of: statSync(history).size, text: readFileSync(page, "utf8") };
}

// The sentences with which `trueline explain` explains a rejection, as one line.
export function explained(history, spec) {
  const { stdout } = spawnSync(trueline, ["explain", "--spec", spec, history], { encoding: "utf8" });
  return stdout.slice(stdout.indexOf("why:") + 4).replace(/\s+/g, " ").trim();
}

// The same numbers each time.
export function numbers(seed) {
  let state = BigInt(seed);
  return () => {
    state = (state * 6364136223846793005n + 1442695040888963407n) & 0xffffffffffffffffn;
    return Number(state >> 33n) / 2 ** 31;
  };
}

// Ten operations of a queue; the ninth takes 5 although 3 is before it.
export const ten = [
  ["enqueue", 0, 1, null, 0, 30], ["enqueue", 1, 2, null, 10, 20], ["dequeue", 2, null, 2, 15, 60], ["enqueue", 1, 3, null, 25, 55],
  ["enqueue", 0, 4, null, 40, 50], ["dequeue", 1, null, 1, 65, 90], ["dequeue", 0, null, 4, 70, 100], ["enqueue", 2, 5, null, 75, 95],
  ["dequeue", 1, null, 5, 110, 118], ["dequeue", 2, null, 3, 120, 140],
].map(([f, process, value, result, call, ret]) => ({ process, f, value, result, call, return: ret }));

// Operations of processes that overlap, carried out by a model at a moment within each; `model` gives f, key, value and result.
export function concurrent(count, processes, seed, model) {
  const random = numbers(seed);
  const free = Array.from({ length: processes }, () => random() * 5000);
  const made = [];
  for (let index = 0; index < count; index++) {
    let process = 0;
    for (let other = 1; other < processes; other++) if (free[other] < free[process]) process = other;
    const call = Math.floor(free[process] + random() * 3000), time = Math.floor(500 - Math.log(1 - random()) * 8000);
    made.push({ process, call, return: call + time, moment: call + time * (0.1 + 0.8 * random()) });
    free[process] = call + time + 1;
  }
  made.sort((one, other) => one.moment - other.moment);
  return made.map(({ moment, ...operation }, index) => ({ ...operation, ...model(random, index) })).sort((one, other) => one.call - other.call);
}

// A queue in which, late, an element overtakes forty others.
export function queue(count, processes, seed) {
  const elements = [];
  let last = 0, isWrong = false;
  return concurrent(count, processes, seed, (random, index) => {
    if (random() < (elements.length < 60 ? 0.6 : 0.4)) {
      elements.push(++last);
      return { f: "enqueue", value: last, result: null };
    }
    let result = elements.shift() ?? null;
    if (!isWrong && index > count * 0.8 && elements.length > 45) {
      [result, elements[40]] = [elements[40], result];
      isWrong = true;
    }
    return { f: "dequeue", value: null, result };
  });
}

// A map of twelve keys, with one stale read.
export function map(count, processes, seed) {
  const values = new Map();
  let last = 0, isWrong = false;
  return concurrent(count, processes, seed, (random, index) => {
    const key = "k" + Math.floor(random() * 12);
    if (random() < 0.4) {
      values.set(key, ++last);
      return { f: "put", key, value: last, result: null };
    }
    let result = values.get(key) ?? null;
    if (!isWrong && index > count * 0.7 && result > 100) {
      result = -1;
      isWrong = true;
    }
    return { f: "get", key, value: null, result };
  });
}

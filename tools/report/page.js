// SPDX-License-Identifier: Apache-2.0
// Unpacks the trace's columns, and has what all parts of the page use.
"use strict";

const KIND = {KERNEL: 0, OPERATION: 1, COPY: 2, HOST: 3, DISK: 4};
const trace = JSON.parse(document.getElementById("data").textContent);
const element = (id) => document.getElementById(id);

async function unpack() {
  const text = element("columns").textContent.trim();
  const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

const ARRAYS = {Uint8: Uint8Array, Uint32: Uint32Array, Int32: Int32Array, Float64: Float64Array};
function column(buffer, place) {
  const [type, at, count] = place;
  return new ARRAYS[type](buffer, at, count);
}

// Begins are differences of ticks. Slices that lie in others have a depth.
function preparedTrack(buffer, t) {
  for (const name of ["length", "name", "kind", "bytes", "array", "cause", "chunk", "last",
    "chunks", "task", "line"])
    t[name] = column(buffer, t[name]);
  const steps = column(buffer, t.begin);
  const n = t.count = steps.length;
  t.begin = new Float64Array(n);
  t.reach = new Float64Array(n); // the last end of slices up to this one
  t.depth = new Uint8Array(n);
  t.rows = 1;
  const ends = [];
  for (let k = 0, at = 0, reach = 0; k < n; k++) {
    t.begin[k] = at += steps[k];
    while (ends.length && ends[ends.length - 1] <= at) ends.pop();
    t.depth[k] = t.pid < 10 ? Math.min(ends.length, 5) : 0;
    t.rows = Math.max(t.rows, t.depth[k] + 1);
    ends.push(at + t.length[k]);
    t.reach[k] = reach = Math.max(reach, at + t.length[k]);
  }
  return t;
}

// The number of the first value that is at least x, in ascending values.
function lowerBound(values, x) {
  let low = 0, high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < x) low = middle + 1;
    else high = middle;
  }
  return low;
}

// ---- Numbers as text ----

function timeText(ticks) {
  const ns = ticks * trace.tick;
  for (const [unit, name] of [[1e9, "s"], [1e6, "ms"], [1e3, "us"]])
    if (ns >= unit) return `${+(ns / unit).toPrecision(4)} ${name}`;
  return ns ? `${Math.round(ns)} ns` : "0";
}

function bytesText(n) {
  for (const [unit, name] of [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [1024, "KiB"]])
    if (n >= unit) return `${+(n / unit).toPrecision(4)} ${name}`;
  return n ? `${n} bytes` : "0";
}

// ---- Colours ----

const PALETTE = ["#2f7d4f", "#b5542c", "#7a5aa8", "#2a8a94", "#a33b6d", "#7d7a1f", "#4b6cb7",
  "#8b4a2b", "#3f8f2f", "#96488f"];
const siteNumbers = new Map(trace.sites.map((site, k) => [site[0], k]));

function colourOf(t, k) {
  const kind = t.kind[k];
  if (kind === KIND.COPY)
    return t.tid === 1001 ? "#3b6fb6" : t.tid === 1002 ? "#d98a2b" : "#8c6bb1";
  if (kind === KIND.DISK) return "#8a5a2b";
  if (kind === KIND.OPERATION) return "#8a929e";
  const name = trace.texts[t.name[k]];
  if (kind === KIND.HOST) return name.startsWith("wait") ? "#d78f8a" : "#b9c0ca";
  return PALETTE[(siteNumbers.get(name.replace(" (unfinished)", "")) || 0) % PALETTE.length];
}

// ---- The start ----

async function start() {
  const buffer = await unpack();
  trace.tracks.forEach((t) => preparedTrack(buffer, t));
  trace.arrows = trace.arrows.map((place) => column(buffer, place));
  for (const c of trace.counters) {
    c.time = column(buffer, c.time);
    c.value = column(buffer, c.value);
  }
  startTables();
  startTimeline();
  document.documentElement.dataset.ready = "yes";
}

window.addEventListener("DOMContentLoaded", () => start().catch((error) => {
  const p = document.createElement("p");
  p.className = "note";
  p.textContent = typeof DecompressionStream === "undefined" ?
    "This browser is too old for the timeline and the tables." : `The page failed: ${error}`;
  element("summary").append(p);
  console.error(error);
}));

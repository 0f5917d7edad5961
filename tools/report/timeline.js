// SPDX-License-Identifier: Apache-2.0
// The timeline, and the memory below it, which show the same window of time.
"use strict";

const ROW = 16, TITLE = 15, AXIS = 22, GAP = 4, CHART = 64, WIDEST_GRAPH_PAUSE = 150;
const view = {begin: 0, end: 1};
let filter = "", pointer = null, isDue = false, graphTimer = 0;

const full = () => ({begin: trace.begin, end: Math.max(trace.end, trace.begin + 1)});
const at = (time, width) => (time - view.begin) / (view.end - view.begin) * width;

function setView(begin, end) {
  const all = full(), most = (all.end - all.begin) * 1.02;
  const length = Math.min(most, Math.max(end - begin, Math.min(most, 20 / trace.tick)));
  const slack = (most - (all.end - all.begin)) / 2;
  begin = Math.max(all.begin - slack, Math.min(begin, all.end + slack - length));
  view.begin = begin;
  view.end = begin + length;
  draw();
}

function zoom(factor, part = 0.5) {
  const length = view.end - view.begin, fixed = view.begin + part * length;
  setView(fixed - part * length * factor, fixed + (1 - part) * length * factor);
}

function pan(part) {
  const step = part * (view.end - view.begin);
  setView(view.begin + step, view.end + step);
}

// ---- The filter ----

function matches(t, k) {
  if (!filter) return true;
  const name = trace.texts[t.name[k]];
  const more = (t.array[k] >= 0 ? trace.arrays[t.array[k]] : "") + "\n" +
    (t.cause[k] >= 0 ? trace.texts[t.cause[k]] : "") + "\n" + (t.line[k] >= 0 ? t.line[k] : "");
  return `${name}\n${more}`.toLowerCase().includes(filter);
}

// Marks the slices that match, and sums their lengths, so that a pixel's share is a difference.
function applyFilter(text) {
  filter = text.trim().toLowerCase();
  let found = 0;
  for (const t of trace.tracks) {
    t.shown = new Uint8Array(t.count);
    t.sums = new Float64Array(t.count + 1);
    for (let k = 0; k < t.count; k++) {
      t.shown[k] = matches(t, k) ? 1 : 0;
      found += t.shown[k];
      t.sums[k + 1] = t.sums[k] + (t.shown[k] && t.depth[k] === 0 ? t.length[k] : 0);
    }
  }
  element("found").textContent = filter ? `${found} slices match` : `${found} slices`;
  draw();
}

// ---- Drawing ----

function layOut() {
  let y = AXIS, process = "";
  for (const t of trace.tracks) {
    if (t.process !== process) y += TITLE + GAP;
    process = t.process;
    t.y = y + TITLE;
    y = t.y + t.rows * ROW + GAP;
  }
  return y + GAP;
}

function context(canvas, height) {
  const scale = window.devicePixelRatio || 1, width = canvas.clientWidth;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.style.height = `${height}px`;
  }
  const c = canvas.getContext("2d");
  c.setTransform(scale, 0, 0, scale, 0, 0);
  c.clearRect(0, 0, width, height);
  c.font = "11px system-ui, sans-serif";
  c.textBaseline = "middle";
  return [c, width];
}

// A time of the axis, with as many decimals as tell it from its neighbours.
function axisText(time, step) {
  const ns = Math.max(0, time) * trace.tick;
  const [unit, name] = [[1e9, "s"], [1e6, "ms"], [1e3, "us"]].find(([u]) => ns >= u) || [1, "ns"];
  const digits = Math.max(0, Math.ceil(-Math.log10(step * trace.tick / unit) - 1e-9));
  return `${(ns / unit).toFixed(Math.min(digits, 9))} ${name}`;
}

function drawAxis(c, width, height) {
  const length = (view.end - view.begin) * trace.tick, raw = length / Math.max(2, width / 110);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw) / trace.tick;
  c.fillStyle = "#5c6370";
  for (let t = Math.ceil(view.begin / step) * step; t < view.end; t += step) {
    const x = Math.round(at(t, width));
    c.fillText(axisText(t, step), x + 3, 8);
    c.fillStyle = "#eceef1";
    c.fillRect(x, 0, 1, height);
    c.fillStyle = "#5c6370";
  }
}

function drawSlice(c, t, k, width) {
  const x = Math.max(-1, at(t.begin[k], width)), y = t.y + t.depth[k] * ROW;
  const w = Math.max(1, Math.min(width + 1, at(t.begin[k] + t.length[k], width)) - x);
  c.globalAlpha = t.shown[k] ? 1 : 0.12;
  c.fillStyle = colourOf(t, k);
  c.fillRect(x, y, w > 3 ? w - 0.5 : w, ROW - 2);
  if (w < 40 || !t.shown[k]) return;
  c.save();
  c.beginPath();
  c.rect(x, y, w - 3, ROW);
  c.clip();
  c.fillStyle = t.kind[k] === KIND.HOST ? "#1d2129" : "#fff";
  c.fillText(trace.texts[t.name[k]], x + 3, y + ROW / 2 - 0.5);
  c.restore();
}

// Each pixel is as dark as the part of its time that slices fill.
function drawBins(c, t, first, last, width) {
  const per = (view.end - view.begin) / width;
  for (let x = 0, k = first; x < width && k < last; x++) {
    const next = Math.min(last, lowerBound(t.begin, view.begin + (x + 1) * per));
    if (next > k) {
      let shown = k; // whose colour it is: the longest of some
      for (let j = k; j < next; j += Math.max(1, (next - k) >> 3))
        if (t.shown[j] && t.length[j] > t.length[shown]) shown = j;
      const part = (t.sums[next] - t.sums[k]) / per;
      c.globalAlpha = part ? Math.min(1, 0.25 + 0.75 * part) : 0.08;
      c.fillStyle = colourOf(t, shown);
      c.fillRect(x, t.y, Math.max(1, Math.min(width - x, part)), ROW - 2);
    }
    k = next;
  }
}

function drawTrack(c, t, width) {
  const first = lowerBound(t.reach, view.begin), last = lowerBound(t.begin, view.end);
  c.globalAlpha = 1;
  c.fillStyle = "#f3f4f6";
  c.fillRect(0, t.y, width, t.rows * ROW - 2);
  if (last - first > 3 * width) drawBins(c, t, first, last, width);
  else for (let k = first; k < last; k++) drawSlice(c, t, k, width);
  c.globalAlpha = 1;
  c.fillStyle = "#5c6370";
  c.fillText(t.title || `track ${t.tid}`, 4, t.y - TITLE / 2);
}

function drawTimeline() {
  const height = layOut(), [c, width] = context(element("timeline"), height);
  drawAxis(c, width, height);
  let process = "";
  for (const t of trace.tracks) {
    if (t.process !== process) {
      c.font = "600 12px system-ui, sans-serif";
      c.fillStyle = "#1d2129";
      c.fillText(t.process, 4, t.y - TITLE - TITLE / 2);
      c.font = "11px system-ui, sans-serif";
    }
    process = t.process;
    drawTrack(c, t, width);
  }
}

// The greatest value in each pixel, and the value that holds where nothing changes.
function drawCounter(c, counter, y, width) {
  const per = (view.end - view.begin) / width, h = CHART - TITLE - GAP;
  let top = counter.limit, k = lowerBound(counter.time, view.begin);
  for (let j = 0; j < counter.value.length; j++) top = Math.max(top, counter.value[j]);
  const most = top || 1;
  c.fillStyle = "#5c6370";
  c.fillText(`${counter.name}, at most ${bytesText(top)}`, 4, y + TITLE / 2);
  c.fillStyle = "#f3f4f6";
  c.fillRect(0, y + TITLE, width, h);
  c.fillStyle = "#6f9bd1";
  for (let x = 0, now = k ? counter.value[k - 1] : 0; x < width; x++) {
    const end = view.begin + (x + 1) * per;
    let value = now;
    for (; k < counter.time.length && counter.time[k] < end; k++) {
      now = counter.value[k];
      value = Math.max(value, now);
    }
    c.fillRect(x, y + TITLE + h * (1 - value / most), 1, h * value / most);
  }
}

function drawMemory() {
  const shown = trace.counters;
  const [c, width] = context(element("memory"), Math.max(20, shown.length * CHART));
  shown.forEach((counter, k) => drawCounter(c, counter, k * CHART, width));
  c.fillStyle = "#5c6370";
  if (!shown.length) c.fillText("The trace has no figures of memory.", 4, 10);
}

function draw() {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => {
    isDue = false;
    drawTimeline();
    drawMemory();
    clearTimeout(graphTimer);
    graphTimer = setTimeout(drawGraph, WIDEST_GRAPH_PAUSE);
  });
}

// ---- What a slice is ----

function sliceText(t, k) {
  const lines = [trace.texts[t.name[k]],
    `${timeText(t.length[k])}, from ${timeText(t.begin[k])} to ` +
      timeText(t.begin[k] + t.length[k])];
  const kernel = t.kind[k] === KIND.KERNEL;
  if (kernel && t.chunk[k] >= 0)
    lines.push(t.chunk[k] === t.last[k] ? `chunk ${t.chunk[k]} of ${t.chunks[k]}` :
      `chunks ${t.chunk[k]} to ${t.last[k]} of ${t.chunks[k]}`);
  if (t.bytes[k] >= 0)
    lines.push(bytesText(t.bytes[k]) + (t.length[k] && t.kind[k] === KIND.COPY ?
      `, ${(t.bytes[k] / (t.length[k] * trace.tick)).toPrecision(3)} GB/s` : ""));
  if (t.array[k] >= 0) lines.push(`array ${trace.arrays[t.array[k]]}`);
  if (t.cause[k] >= 0) lines.push(`for ${trace.texts[t.cause[k]]}`);
  if (t.line[k] >= 0) lines.push(`line ${t.line[k]}`);
  if (t.task[k] >= 0) lines.push(`task ${t.task[k]}`);
  return lines.join("\n");
}

function sliceAt(x, y) {
  const canvas = element("timeline"), width = canvas.clientWidth;
  const t = trace.tracks.find((one) => y >= one.y && y < one.y + one.rows * ROW);
  if (!t) return null;
  const per = (view.end - view.begin) / width, time = view.begin + x * per;
  const row = Math.floor((y - t.y) / ROW);
  for (let k = lowerBound(t.begin, time + per) - 1; k >= 0 && t.reach[k] >= time - per; k--)
    if (t.depth[k] === row && t.begin[k] + t.length[k] >= time - per) return [t, k];
  return null;
}

function showTip(event) {
  const tip = element("tip"), box = element("timeline").getBoundingClientRect();
  const found = sliceAt(event.clientX - box.left, event.clientY - box.top);
  tip.hidden = !found;
  if (!found) return;
  tip.textContent = sliceText(...found);
  tip.style.left = `${Math.max(4, Math.min(event.clientX + 12,
    window.innerWidth - tip.offsetWidth - 8))}px`;
  tip.style.top = `${event.clientY + 16 + tip.offsetHeight > window.innerHeight ?
    event.clientY - tip.offsetHeight - 8 : event.clientY + 16}px`;
}

// ---- Pointer and keys ----

function onWheel(event) {
  event.preventDefault();
  const part = event.offsetX / element("timeline").clientWidth;
  if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
    pan((event.deltaX || event.deltaY) / 1000);
  else zoom(Math.exp(Math.max(-200, Math.min(200, event.deltaY)) / 400), part);
}

function onMove(event) {
  if (pointer === null) {
    showTip(event);
    return;
  }
  element("tip").hidden = true;
  pan((pointer - event.clientX) / element("timeline").clientWidth);
  pointer = event.clientX;
}

const KEYS = {w: () => zoom(0.7), s: () => zoom(1 / 0.7), a: () => pan(-0.15), d: () => pan(0.15),
  ArrowLeft: () => pan(-0.15), ArrowRight: () => pan(0.15), "+": () => zoom(0.7),
  "-": () => zoom(1 / 0.7), 0: () => setView(full().begin, full().end)};

function onKey(event) {
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (event.target.tagName === "INPUT" || event.ctrlKey || event.metaKey || event.altKey ||
      !KEYS[key])
    return;
  event.preventDefault();
  KEYS[key]();
}

function startTimeline() {
  const canvas = element("timeline"), release = () => { pointer = null; };
  canvas.addEventListener("wheel", onWheel, {passive: false});
  canvas.addEventListener("pointerdown", (event) => {
    pointer = event.clientX;
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", onMove);
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", () => { element("tip").hidden = true; });
  document.addEventListener("keydown", onKey);
  window.addEventListener("resize", draw);
  element("closer").onclick = KEYS.w;
  element("farther").onclick = KEYS.s;
  element("whole").onclick = KEYS[0];
  element("filter").addEventListener("input", (event) => applyFilter(event.target.value));
  KEYS[0]();
  applyFilter("");
}

// SPDX-License-Identifier: Apache-2.0
// The tasks that run in the window of the timeline, and what they have waited for.
"use strict";

const MOST_TASKS = 300, BOX = {width: 128, height: 32, across: 12, down: 34};

// Tasks of the window, by the begin of their kernels; null: they are too many.
function tasksOfWindow() {
  const tasks = [];
  for (const [number, t] of trace.tracks.entries()) {
    const first = lowerBound(t.reach, view.begin), last = lowerBound(t.begin, view.end);
    for (let k = first; k < last; k++) {
      if (t.kind[k] > KIND.OPERATION || t.begin[k] + t.length[k] < view.begin) continue;
      if (tasks.length === MOST_TASKS) return null;
      tasks.push({t, k, key: `${number}:${k}`, layer: 0, before: []});
    }
  }
  return tasks.sort((a, b) => a.t.begin[a.k] - b.t.begin[b.k]);
}

// A task is one layer below the lowest that it has waited for.
function connect(tasks) {
  const byKey = new Map(tasks.map((task) => [task.key, task]));
  const [fromTrack, from, toTrack, to] = trace.arrows;
  for (let k = 0; k < from.length; k++) {
    const target = byKey.get(`${toTrack[k]}:${to[k]}`);
    const source = target && byKey.get(`${fromTrack[k]}:${from[k]}`);
    if (source && source !== target && !target.before.includes(source)) target.before.push(source);
  }
  const filled = [];
  for (const task of tasks) {
    for (const one of task.before) task.layer = Math.max(task.layer, one.layer + 1);
    task.place = filled[task.layer] || 0;
    filled[task.layer] = task.place + 1;
  }
  return filled;
}

function svg(name, attributes, text) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  return node;
}

const left = (task) => task.place * (BOX.width + BOX.across) + 4;
const top_ = (task) => task.layer * (BOX.height + BOX.down) + 4;

function boxOf(task) {
  const {t, k} = task, group = svg("g", {}), name = trace.texts[t.name[k]];
  const chunk = t.chunk[k] >= 0 ? `chunk ${t.chunk[k]}` +
    (t.last[k] > t.chunk[k] ? `-${t.last[k]}` : "") : "";
  group.append(svg("title", {}, sliceText(t, k)),
    svg("rect", {x: left(task), y: top_(task), width: BOX.width, height: BOX.height, rx: 4,
      fill: colourOf(t, k)}),
    svg("text", {x: left(task) + 6, y: top_(task) + 13, fill: "#fff"},
      name.length > 20 ? `${name.slice(0, 19)}…` : name),
    svg("text", {x: left(task) + 6, y: top_(task) + 26, fill: "#fff"},
      `${chunk} ${t.process.split(":")[0]}`));
  return group;
}

function arrowOf(source, target) {
  const x0 = left(source) + BOX.width / 2, y0 = top_(source) + BOX.height;
  const x1 = left(target) + BOX.width / 2, y1 = top_(target);
  const bend = Math.min(60, (y1 - y0) / 2);
  return svg("path", {d: `M${x0} ${y0}C${x0} ${y0 + bend} ${x1} ${y1 - bend} ${x1} ${y1}`,
    fill: "none", stroke: "#8a929e", "marker-end": "url(#point)"});
}

function drawGraph() {
  const tasks = tasksOfWindow(), place = element("graph"), note = element("graph-note");
  place.replaceChildren();
  note.textContent = tasks === null ?
    `More than ${MOST_TASKS} tasks run in the window of the timeline. Zoom in to see them here.` :
    `${tasks.length} tasks run in the window of the timeline. An arrow leads from a task to one ` +
      "that waited for it.";
  if (!tasks || !tasks.length) return;
  const filled = connect(tasks), widest = Math.max(...filled.map((n) => n || 0));
  const width = widest * (BOX.width + BOX.across) + 8;
  const height = filled.length * (BOX.height + BOX.down) - BOX.down + 8;
  const picture = svg("svg", {width, height, role: "img"}), defs = svg("defs", {});
  const point = svg("marker", {id: "point", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7,
    markerHeight: 7, orient: "auto"});
  point.append(svg("path", {d: "M0 0L8 4L0 8z", fill: "#8a929e"}));
  defs.append(point);
  picture.append(defs);
  for (const task of tasks) for (const one of task.before) picture.append(arrowOf(one, task));
  for (const task of tasks) picture.append(boxOf(task));
  place.append(picture);
}

// SPDX-License-Identifier: Apache-2.0
// Tables of launches, arrays and lines.
"use strict";

const number = (value) => String(value);
const duration = (ns) => timeText(ns / trace.tick);

function cell(row, text, isNumber) {
  const td = document.createElement("td");
  td.textContent = text;
  if (isNumber) td.className = "number";
  row.append(td);
  return td;
}

function filterButton(td, text) {
  const button = document.createElement("button");
  button.textContent = text;
  button.title = "filter the timeline";
  button.onclick = () => {
    element("filter").value = text;
    applyFilter(text);
    element("timeline").scrollIntoView({block: "nearest"});
  };
  td.replaceChildren(button);
}

// Fills a table. Columns: [heading, value of a row, text of the value or null for a name].
function fillTable(table, columns, rows, sortBy) {
  let sorted = sortBy, isDown = true;
  const head = table.createTHead().insertRow(), body = table.createTBody();
  const fill = () => {
    const value = columns[sorted][1], sign = isDown ? -1 : 1;
    rows.sort((a, b) => sign * (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : 0));
    body.replaceChildren(...rows.map((row) => {
      const tr = document.createElement("tr");
      columns.forEach(([, of, text]) => {
        if (text) cell(tr, text(of(row)), true);
        else filterButton(cell(tr, ""), of(row));
      });
      return tr;
    }));
    [...head.cells].forEach((th, k) =>
      th.setAttribute("aria-sort", k !== sorted ? "none" : isDown ? "descending" : "ascending"));
  };
  columns.forEach(([heading, , text], k) => {
    const th = document.createElement("th"), button = document.createElement("button");
    th.className = text ? "number" : "";
    button.textContent = heading;
    button.onclick = () => {
      isDown = sorted === k ? !isDown : Boolean(text);
      sorted = k;
      fill();
    };
    th.append(button);
    head.append(th);
  });
  fill();
}

// Rows of a name and bytes in, out and between devices, with bars.
function fillBytes(table, rows) {
  const sum = (row) => row[1] + row[2] + row[3], most = Math.max(1, ...rows.map(sum));
  const head = table.createTHead().insertRow();
  for (const [text, kind] of [["", ""], ["in", "number"], ["out", "number"],
    ["between", "number"], ["", "length"]]) {
    const th = document.createElement("th");
    th.textContent = text;
    th.className = kind;
    head.append(th);
  }
  const body = table.createTBody();
  rows.filter(sum).sort((a, b) => sum(b) - sum(a)).forEach((row) => {
    const tr = body.insertRow(), bar = document.createElement("div");
    filterButton(cell(tr, ""), row[0]);
    for (const k of [1, 2, 3]) cell(tr, bytesText(row[k]), true);
    ["in", "out", "peer"].forEach((kind, k) => {
      const part = document.createElement("div");
      part.className = kind;
      part.style.width = `${100 * row[k + 1] / most}%`;
      bar.append(part);
    });
    const td = cell(tr, "");
    td.className = "length";
    td.append(bar);
  });
}

function startTables() {
  fillTable(element("launches"), [
    ["launch", (r) => r[0], null], ["launches", (r) => r[2], number],
    ["chunks", (r) => r[3], number], ["kernels", (r) => r[4], number],
    ["time in kernels", (r) => r[5], duration],
    ["per chunk", (r) => r[5] / Math.max(1, r[3]), duration],
    ["copied in", (r) => r[6], bytesText], ["out", (r) => r[7], bytesText],
    ["between devices", (r) => r[8], bytesText], ["waited for room", (r) => r[9], duration]],
  trace.sites, 4);
  fillBytes(element("arrays"), trace.uses.map((u) => u.slice(0, 4)));
  const lines = trace.sites.map((s) => [s[0], s[6], s[7], s[8]]);
  const rest = trace.bytes.map((n, k) => n - lines.reduce((sum, line) => sum + line[k + 1], 0));
  fillBytes(element("lines"), [...lines, ["eviction", ...rest]]);
}

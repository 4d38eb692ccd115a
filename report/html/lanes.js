// The timeline: an SVG image with a lane for each process and device.
"use strict";
(() => {
  const { data, axis, gutter, margin, clock } = forensics;
  const holder = document.getElementById("lanes");
  if (!holder || !axis.exists || data.lanes.length === 0) return;

  const titleHeight = 17;
  const barHeight = 18;
  const laneHeight = titleHeight + barHeight + 5;
  const top = axis.mark ? 18 : 4;
  const height = top + data.lanes.length * laneHeight + 22;
  const make = (name, attributes, parent, text) => {
    const e = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
    if (text !== undefined) e.textContent = text;
    if (parent) parent.append(e);
    return e;
  };
  // The name of a row as its tooltip and for screen readers.
  const rowText = (n) => {
    const cells = [...document.getElementById(`event-${n}`).cells].slice(0, 3);
    return cells.map((c) => c.textContent.trim()).join("  ");
  };

  let svg = null;
  let cursor = null;
  let out = new Set(); // rows that the filter hides
  let fixed = 0; // the width on paper
  const width = () => fixed || holder.clientWidth;
  const plot = () => Math.max(1, width() - gutter - margin); // the window may be tiny
  const xOf = (t) => gutter + ((t - axis.min) / (axis.max - axis.min)) * plot();
  const timeOf = (x) => axis.min + ((x - gutter) / plot()) * (axis.max - axis.min);
  const inside = (x) => Math.min(Math.max(x, gutter), gutter + plot());

  const drawBox = (b, y, parent) => {
    if (b.hi < axis.min || b.lo > axis.max) return;
    const [from, to] = [inside(xOf(b.lo)), inside(xOf(b.hi))];
    const g = make("g", {}, parent);
    const size = Math.max(1, to - from);
    make("rect", { class: `box ${b.look}`, x: from, y, width: size, height: barHeight }, g);
    if (!b.label) return;
    make("title", {}, g, `${b.label}, ${clock(b.lo, 0, axis.days)} – ${clock(b.hi)}`);
    const fits = Math.floor((size - 8) / 6.6);
    if (fits >= Math.min(3, b.label.length)) {
      const text = b.label.length <= fits ? b.label : `${b.label.slice(0, Math.max(1, fits - 1))}…`;
      make("text", { x: from + 4, y: y + 13 }, g, text);
    }
  };

  // groupsOf joins the events that would cover each other; zooming in parts them.
  const groupsOf = (marks) => {
    const groups = [];
    for (const m of [...marks].sort((a, b) => a.x - b.x || a.n - b.n)) {
      if (m.x < axis.min || m.x > axis.max) continue;
      const last = groups.at(-1);
      if (last && xOf(m.x) - last.x < 14) last.marks.push(m);
      else groups.push({ x: xOf(m.x), marks: [m] });
    }
    return groups;
  };

  // drawDots puts the events on the lower edge of the bar. Several at one place are
  // one dot with their number, in the look of the gravest of them.
  const grave = ["death", "finding", "traceback", "kernel"];
  const drawDots = (marks, y, parent) => {
    for (const group of groupsOf(marks)) {
      const shown = group.marks.filter((m) => !out.has(m.n));
      const all = shown.length > 0 ? shown : group.marks;
      const first = all.find((m) => grave.includes(m.kind)) || all[0];
      const g = make("g", { class: shown.length > 0 ? "dot" : "dot out", "data-n": first.n, "data-kind": first.kind }, parent);
      make("circle", { cx: group.x, cy: y, r: all.length > 9 ? 9 : all.length > 1 ? 7.5 : 5 }, g);
      if (all.length > 1) make("text", { x: group.x, y: y + 3.6 }, g, all.length > 99 ? "99+" : all.length);
      const lines = all.slice(0, 8).map((m) => rowText(m.n));
      if (all.length > 8) lines.push(`and ${all.length - 8} more`);
      make("title", {}, g, lines.join("\n"));
    }
  };

  const drawTicks = () => {
    for (const { t, text } of axis.ticks(plot())) {
      const x = xOf(t);
      make("line", { class: "grid", x1: x, x2: x, y1: top, y2: height - 20 }, svg);
      const half = text.length * 3.4;
      make("text", { class: "tick", x: Math.min(Math.max(x, half), width() - half), y: height - 6 }, svg, text);
    }
  };

  const drawMark = () => {
    if (!axis.mark || axis.mark.x < axis.min || axis.mark.x > axis.max) return;
    const x = xOf(axis.mark.x);
    make("line", { class: "mark", x1: x, x2: x, y1: 14, y2: height - 20 }, svg);
    const room = axis.mark.label.length * 7;
    const anchor = x > width() / 2 ? "end" : "start";
    const at = anchor === "end" ? Math.max(x + 4, Math.min(room, width())) : Math.min(x - 4, Math.max(0, width() - room));
    make("text", { class: "marked", x: at, y: 11, "text-anchor": anchor }, svg, axis.mark.label);
  };

  const draw = () => {
    if (svg) svg.remove();
    svg = make("svg", { class: "lanes", width: width(), height, viewBox: `0 0 ${width()} ${height}`, "aria-hidden": "true" });
    data.lanes.forEach((lane, i) => {
      const y = top + i * laneHeight + titleHeight;
      make("rect", { class: "bed", x: gutter, y, width: plot(), height: barHeight }, svg);
    });
    drawTicks();
    data.lanes.forEach((lane, i) => {
      const y = top + i * laneHeight + titleHeight;
      make("text", { class: "title", x: 2, y: y - 4 }, svg, lane.title);
      lane.boxes.forEach((b) => drawBox(b, y, svg));
    });
    drawMark();
    data.lanes.forEach((lane, i) => drawDots(lane.marks, top + i * laneHeight + titleHeight + barHeight, svg));
    cursor = make("line", { class: "cursor", y1: top, y2: height - 20, visibility: "hidden" }, svg);
    holder.append(svg);
    drawCursor();
  };

  const drawCursor = () => {
    const t = axis.cursor;
    const seen = t !== null && t >= axis.min && t <= axis.max;
    cursor.setAttribute("visibility", seen ? "visible" : "hidden");
    if (!seen) return;
    cursor.setAttribute("x1", xOf(t));
    cursor.setAttribute("x2", xOf(t));
  };

  // Dragging chooses a stretch to zoom into; a press without moving selects.
  let start = null;
  let drag = null;
  const at = (e) => inside(e.clientX - holder.getBoundingClientRect().left);
  holder.addEventListener("pointerdown", (e) => {
    if (e.button !== 0 || e.target.closest(".dot")) return;
    start = at(e);
    drag = make("rect", { class: "drag", x: start, y: top, width: 0, height: height - 20 - top }, svg);
  });
  holder.addEventListener("pointermove", (e) => {
    axis.point(timeOf(at(e)));
    if (start === null) return;
    drag.setAttribute("x", Math.min(start, at(e)));
    drag.setAttribute("width", Math.abs(at(e) - start));
  });
  addEventListener("pointerup", (e) => {
    if (start === null) return;
    const [from, to] = [Math.min(start, at(e)), Math.max(start, at(e))];
    start = null;
    drag.remove();
    if (to - from > 4) axis.show(timeOf(from), timeOf(to));
  });
  addEventListener("pointercancel", () => {
    if (drag) drag.remove();
    start = null;
  });
  holder.addEventListener("pointerleave", () => axis.point(null));
  holder.addEventListener("dblclick", axis.all);
  holder.addEventListener("click", (e) => {
    const dot = e.target.closest(".dot");
    if (dot) forensics.go(`event-${dot.dataset.n}`, holder);
  });

  axis.listen((what) => (what === "range" ? draw() : drawCursor()));
  axis.keys(holder);
  forensics.lanes = {
    draw,
    fit: (paper = 0) => {
      fixed = paper;
      draw();
    },
    hide: (rows) => {
      out = rows;
      draw();
    },
  };
})();

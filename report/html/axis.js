// The time axis that the timeline and the charts share, and the colours of the
// theme. Everything that is drawn listens to it.
"use strict";
const forensics = {};

forensics.data = JSON.parse(document.getElementById("data").textContent);

// colour resolves a colour of the style sheet for a canvas, which knows no
// variables.
forensics.colour = (() => {
  const probe = document.createElement("span");
  probe.hidden = true;
  document.body.append(probe);
  return (name) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
})();

// clock formats Unix seconds as the time of day of the run, with the date where
// the record covers several days. Times of the run have no zone: they are shown as
// they were written.
forensics.clock = (seconds, digits = 0, dated = false) => {
  const text = new Date(Math.round(seconds * 1000)).toISOString();
  const time = text.slice(11, digits > 0 ? 20 + digits : 19);
  return dated ? `${text.slice(0, 10)} ${time}` : time;
};

forensics.axis = (() => {
  const { range, core, mark } = forensics.data;
  const listeners = [];
  const axis = { min: core[0], max: core[1], cursor: null, mark };
  axis.exists = range[1] > range[0];
  axis.days = axis.exists && forensics.clock(range[0], 0, true).slice(0, 10) !== forensics.clock(range[1], 0, true).slice(0, 10);

  axis.listen = (listener) => listeners.push(listener);
  const tell = (what) => listeners.forEach((l) => l(what));

  // show sets the range: never outside the record, never closer than 50 ms.
  axis.show = (min, max) => {
    const length = Math.min(Math.max(max - min, 0.05), range[1] - range[0]);
    min = Math.min(Math.max(min, range[0]), range[1] - length);
    if (min === axis.min && min + length === axis.max) return;
    axis.min = min;
    axis.max = min + length;
    tell("range");
  };
  axis.all = () => axis.show(range[0], range[1]);
  axis.zoom = (factor, centre = (axis.min + axis.max) / 2) =>
    axis.show(centre - (centre - axis.min) * factor, centre + (axis.max - centre) * factor);
  axis.move = (share) => {
    const by = (axis.max - axis.min) * share;
    axis.show(axis.min + by, axis.max + by);
  };
  // around shows a moment in the middle of a tenth of the record or less.
  axis.around = (t) => {
    const half = Math.min(axis.max - axis.min, (range[1] - range[0]) / 10) / 2;
    axis.show(t - half, t + half);
    axis.point(t);
  };
  axis.point = (t) => {
    axis.cursor = t;
    tell("cursor");
  };
  axis.text = () => {
    const digits = axis.max - axis.min < 10 ? 3 : 0;
    return `${forensics.clock(axis.min, digits, axis.days)} – ${forensics.clock(axis.max, digits)}`;
  };

  const steps = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900,
    1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 2419200];
  // ticks chooses round times for a width in pixels, so that labels never touch.
  axis.ticks = (width) => {
    const length = axis.max - axis.min;
    const most = Math.max(1, Math.floor(width / 90));
    const step = steps.find((s) => length / s <= most) || length;
    const out = [];
    for (let t = Math.ceil(axis.min / step) * step; t <= axis.max; t += step) {
      out.push({ t, text: forensics.clock(t, step < 1 ? 3 : 0, step >= 43200) });
    }
    return out;
  };

  // keys moves and zooms by keyboard in an element that has the focus.
  axis.keys = (element) => element.addEventListener("keydown", (e) => {
    const act = {
      ArrowLeft: () => axis.move(-0.2), ArrowRight: () => axis.move(0.2),
      "+": () => axis.zoom(0.5), "=": () => axis.zoom(0.5), "-": () => axis.zoom(2), 0: axis.all,
    }[e.key];
    if (!act || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    act();
  });
  return axis;
})();

// The space beside the plots, the same in timeline and charts, so that a moment is
// at the same place in all of them.
forensics.gutter = 58;
forensics.margin = 14;

// Charts of quantities over time on the shared axis, and of the sweep.
"use strict";
(() => {
  const { data, axis, colour, clock, gutter, margin } = forensics;
  const dashes = [[], [6, 3], [2, 2], [8, 3, 2, 3], [], [4, 2], [1, 2], [10, 4]];
  const box = (id) => document.getElementById(`charts-${id}`);
  let plots = []; // { plot, holder, onTime }

  // lineOf describes a line for uPlot; lines differ in colour and in dashes.
  const lineOf = (trace, chart, name) => ({
    label: name,
    stroke: colour(`line-${trace.look}`),
    width: 1.5,
    dash: dashes[trace.look],
    points: { show: trace.dots, size: 6 },
    spanGaps: false,
    value: (_, v) => (v == null ? "–" : `${figure(v)} ${chart.unit.replace(" (log)", "")}`),
  });

  const figure = (v) => v.toLocaleString("en-US", { maximumFractionDigits: Math.abs(v) < 100 ? 2 : 0 });

  // columnsOf puts the traces of a chart on common x values. A null is a gap in a
  // line; a place where only other lines have a value is none. The edges of a band
  // are two more columns without a line of their own.
  const columnsOf = (chart) => {
    const series = [{}];
    const bands = [];
    const tables = chart.lines.map((trace) => {
      const name = trace.label || (chart.lines.length > 1 ? "all" : "value");
      series.push(lineOf(trace, chart, name));
      if (!trace.lo) return [trace.x, trace.y];
      const edge = { stroke: "transparent", points: { show: false } };
      series.push({ ...edge, label: "greatest", value: lineOf(trace, chart).value });
      series.push({ ...edge, label: "least", value: lineOf(trace, chart).value });
      bands.push({ series: [series.length - 2, series.length - 1], fill: faded(colour(`line-${trace.look}`)) });
      return [trace.x, trace.y, trace.hi, trace.lo];
    });
    return { columns: uPlot.join(tables), series, bands };
  };

  const faded = (rgb) => rgb.replace("rgb(", "rgba(").replace(")", ", 0.25)");

  // behind paints the time of each benchmark point, and the moment of failure.
  const behind = (plot) => {
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.fillStyle = colour("shade");
    for (const b of data.lanes.filter((l) => l.kind === "client").flatMap((l) => l.boxes)) {
      const from = plot.valToPos(b.lo, "x", true);
      ctx.fillRect(from, bbox.top, Math.max(1, plot.valToPos(b.hi, "x", true) - from), bbox.height);
    }
    ctx.restore();
  };

  const failure = (plot) => {
    if (!axis.mark || axis.mark.x < axis.min || axis.mark.x > axis.max) return;
    const { ctx, bbox } = plot;
    const x = plot.valToPos(axis.mark.x, "x", true);
    const ratio = devicePixelRatio;
    ctx.save();
    ctx.strokeStyle = ctx.fillStyle = colour("fail-line");
    ctx.lineWidth = 1.5 * ratio;
    ctx.setLineDash([6 * ratio, 3 * ratio]);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.font = `600 ${11 * ratio}px system-ui, sans-serif`;
    const right = x > bbox.left + bbox.width - 50 * ratio; // what came before stays in sight
    ctx.setLineDash([]);
    ctx.textAlign = right ? "right" : "left";
    const at = x + (right ? -5 : 5) * ratio;
    const size = ctx.measureText("failed").width + 4 * ratio;
    ctx.fillStyle = colour("paper"); // the word may stand on a line
    ctx.fillRect(right ? at - size + 2 * ratio : at - 2 * ratio, bbox.top, size, 14 * ratio);
    ctx.fillStyle = colour("fail-line");
    ctx.fillText("failed", at, bbox.top + 11 * ratio);
    ctx.restore();
  };

  const axisLook = () => ({
    stroke: colour("faint"), grid: { stroke: colour("grid"), width: 1 }, ticks: { stroke: colour("grid"), width: 1 },
    font: "12px system-ui, sans-serif",
  });

  // On a logarithmic axis only the powers of ten have a line and a name.
  const decades = (_, splits) => splits.map((v) => (Math.abs(Math.log10(v) % 1) < 1e-6 ? v : null));
  const valueAxis = (chart) => ({
    ...axisLook(), size: gutter, space: 26,
    ...(chart.log ? {
      filter: decades, ticks: { show: false }, grid: { stroke: colour("grid"), width: 1, filter: decades },
    } : {}),
    values: (_, splits) => splits.map((v) => (v == null ? "" : short(v))),
  });
  const short = (v) => {
    if (v >= 1e6) return `${v / 1e6}M`;
    return v >= 10000 ? `${v / 1000}k` : `${+v.toFixed(4)}`;
  };

  const valueScale = (chart) => {
    if (chart.log) return { distr: 3 };
    return { range: (_, __, max) => [0, Math.max(chart.top, max || 0, 1e-9) * 1.06] };
  };

  const common = (chart, holder) => ({
    width: holder.clientWidth, height: 150, padding: [8, margin, 0, 0],
    focus: { alpha: 0.4 }, legend: { live: true },
  });

  const timeOptions = (chart, holder, parts) => ({
    ...common(chart, holder),
    series: [{ label: "Time", value: (_, v) => (v == null ? "–" : clock(v, 1, axis.days)) }, ...parts.series.slice(1)],
    bands: parts.bands,
    scales: { x: { time: false, range: () => [axis.min, axis.max] }, y: valueScale(chart) },
    axes: [
      {
        ...axisLook(), size: 28,
        splits: (plot) => axis.ticks(plot.bbox.width / devicePixelRatio).map((x) => x.t),
        values: (plot) => axis.ticks(plot.bbox.width / devicePixelRatio).map((x) => x.text),
      },
      valueAxis(chart),
    ],
    cursor: {
      sync: { key: "time", scales: ["x", null] }, drag: { x: true, y: false, setScale: false },
      bind: { dblclick: () => () => { axis.all(); return null; } },
    },
    hooks: {
      drawClear: [behind],
      draw: [failure],
      setSelect: [(plot) => {
        const { left, width } = plot.select;
        if (width < 3) return;
        const [min, max] = [plot.posToVal(left, "x"), plot.posToVal(left + width, "x")];
        plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
        axis.show(min, max);
      }],
      setCursor: [(plot) => {
        if (plot.cursor.event) axis.point(plot.cursor.left >= 0 ? plot.posToVal(plot.cursor.left, "x") : null);
      }],
    },
  });

  // failedPoints writes what did not complete above its place on the axis of names.
  const failedPoints = (chart) => (plot) => {
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.fillStyle = colour("fail-line");
    ctx.font = `600 ${11 * devicePixelRatio}px system-ui, sans-serif`;
    ctx.textAlign = "center";
    let last = -Infinity;
    for (const c of chart.crosses || []) {
      const x = plot.valToPos(c.x, "x", true);
      ctx.fillText("×", x, bbox.top + bbox.height - 4 * devicePixelRatio);
      if (x - last < ctx.measureText(c.label).width + 8) continue; // would cover its neighbour
      const half = ctx.measureText(c.label).width / 2;
      const at = Math.min(x, bbox.left + bbox.width - half);
      ctx.fillText(c.label, at, bbox.top + bbox.height - 18 * devicePixelRatio);
      last = x + half;
    }
    ctx.restore();
  };

  const sweepOptions = (chart, holder, parts) => ({
    ...common(chart, holder),
    height: 170,
    series: [{ label: data.label, value: (_, v) => (v == null ? "–" : data.names[v]) }, ...parts.series.slice(1)],
    scales: { x: { time: false, range: () => [-0.5, data.names.length - 0.5] }, y: valueScale(chart) },
    axes: [
      {
        ...axisLook(), size: 30, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500], space: 60,
        values: (_, splits) => splits.map((i) => data.names[i] ?? ""),
      },
      valueAxis(chart),
    ],
    cursor: { drag: { x: false, y: false }, points: { size: 8 } },
    hooks: { draw: [failedPoints(chart)] },
  });

  const add = (parent, chart, options, onTime) => {
    const holder = document.createElement("div");
    holder.className = "chart";
    const title = document.createElement("h4");
    const said = !chart.unit || chart.title.endsWith(chart.unit);
    title.textContent = said ? chart.title : `${chart.title} (${chart.unit.replace(" (log)", ", logarithmic")})`;
    holder.append(title);
    parent.append(holder);
    const parts = columnsOf(chart);
    const plot = new uPlot(options(chart, holder, parts), parts.columns, holder);
    plot.root.setAttribute("aria-hidden", "true"); // the words and the table say the same
    plots.push({ plot, holder, onTime });
  };

  // draw makes all charts anew: first, and when the colours change.
  const draw = () => {
    plots.forEach(({ plot, holder }) => { plot.destroy(); holder.remove(); });
    plots = [];
    for (const chart of data.time) {
      box(chart.group).hidden = false;
      add(box(chart.group), chart, timeOptions, true);
    }
    for (const chart of data.sweep) {
      box("points").hidden = false;
      add(box("points"), chart, sweepOptions, false);
    }
  };

  const fit = (width) => plots.forEach(({ plot, holder }) => {
    plot.setSize({ width: width || holder.clientWidth, height: plot.height });
  });

  axis.listen((what) => {
    if (what !== "range") return;
    plots.filter((p) => p.onTime).forEach(({ plot }) => plot.setScale("x", { min: axis.min, max: axis.max }));
  });
  for (const id of ["load", "gpu"]) if (box(id)) { box(id).tabIndex = 0; axis.keys(box(id)); }
  forensics.charts = { draw, fit, get plots() { return plots.map((p) => p.plot); } };
})();

// The page around timeline and charts: links and the way back, filter, theme,
// tools of the time axis, printing.
"use strict";
(() => {
  const { axis, charts, lanes } = forensics;
  const get = (id) => document.getElementById(id);
  const root = document.documentElement;
  const say = (text) => { get("said").textContent = text; };

  // Links inside the page: the target gets the focus, and a button leads back to
  // where the reader was. The stack forgets when the reader is back.
  const trail = [];
  const nameOf = (element) => {
    const part = element.closest("section, nav");
    const id = element.closest("[id]")?.id || "";
    const heading = part?.querySelector("h1, h2")?.textContent.trim() || "the contents";
    return /^(step|symptom|rejected|point|event|line)-\d+$/.test(id) ? id.replace("-", " ") : heading;
  };
  const showBack = () => {
    get("back").hidden = trail.length === 0;
    if (trail.length > 0) get("back-to").textContent = trail.at(-1).name;
  };
  const reveal = (target) => {
    for (let d = target.closest("details"); d; d = d.parentElement.closest("details")) d.open = true;
    if (target.classList.contains("out")) {
      get("filter").value = "";
      filter();
    }
    target.focus({ preventScroll: true });
    target.scrollIntoView({ block: target.matches("section, main") ? "start" : "center" });
  };
  forensics.go = (id, from) => {
    const target = get(id);
    if (!target) return;
    trail.push({ element: from, name: nameOf(from), y: scrollY });
    if (trail.length > 50) trail.shift();
    showBack();
    reveal(target);
  };
  document.addEventListener("click", (e) => {
    const link = e.target.closest('a[href^="#"]');
    if (!link || e.ctrlKey || e.metaKey || e.shiftKey || e.button !== 0) return;
    const id = link.getAttribute("href").slice(1);
    if (!get(id)) return;
    e.preventDefault();
    if (link.closest(".contents, .skip")) {
      reveal(get(id));
    } else {
      forensics.go(id, link);
    }
    history.replaceState(null, "", `#${id}`);
  });
  const back = () => {
    const last = trail.pop();
    if (!last) return;
    showBack();
    scrollTo(0, last.y);
    last.element.focus({ preventScroll: true });
  };
  get("back").addEventListener("click", back);
  document.addEventListener("keydown", (e) => {
    if (e.key === "Escape" && !e.target.closest("input")) back();
  });

  // Filter: a row stays if it holds every word.
  const rows = [...document.querySelectorAll("#events tbody tr")];
  const texts = rows.map((r) => r.textContent.toLowerCase());
  function filter() {
    const words = get("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
    const out = new Set();
    rows.forEach((row, i) => {
      const keep = words.every((w) => texts[i].includes(w));
      row.classList.toggle("out", !keep);
      if (!keep) out.add(i + 1);
    });
    get("filter-count").textContent = words.length ? `${rows.length - out.size} of ${rows.length} events` : "";
    lanes?.hide(out);
  }
  if (rows.length > 0) {
    get("filter").addEventListener("input", filter);
    get("filter").closest("p").hidden = false;
  }

  // Tools of the time axis, and the times in the table as buttons that lead to it.
  const showRange = () => { get("axis-range").textContent = axis.text(); };
  const tools = () => {
    const acts = {
      in: () => axis.zoom(0.5), out: () => axis.zoom(2), left: () => axis.move(-0.3), right: () => axis.move(0.3),
      all: axis.all, mark: () => axis.around(axis.mark.x),
    };
    const bar = get("axis-tools");
    bar.addEventListener("click", (e) => acts[e.target.dataset.do]?.());
    bar.querySelector('[data-do="mark"]').hidden = !axis.mark;
    bar.hidden = get("lanes").hidden = bar.parentElement.querySelector(".hint").hidden = false;
    axis.listen((what) => { if (what === "range") showRange(); });
    showRange();
    for (const row of rows) {
      if (!row.dataset.at) continue;
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = row.cells[0].textContent;
      button.setAttribute("aria-label", `${button.textContent}, show on the timeline`);
      button.addEventListener("click", () => {
        axis.around(Number(row.dataset.at));
        say(`The timeline shows ${axis.text()}`);
        get("lanes").scrollIntoView({ block: "nearest" });
      });
      row.cells[0].replaceChildren(button);
    }
  };

  // Theme: the system's, until the reader presses the button. Nothing is stored.
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const paint = () => {
    get("theme").textContent = isDark() ? "Light theme" : "Dark theme";
    get("theme").setAttribute("aria-pressed", String(Boolean(root.dataset.theme)));
    charts.draw();
  };
  get("theme").addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    paint();
  });
  system.addEventListener("change", paint);

  // Printing: everything open, in the light theme, as wide as the paper.
  let before = null;
  addEventListener("beforeprint", () => {
    if (before) return;
    const closed = [...document.querySelectorAll("details:not([open])")];
    before = { closed, theme: root.dataset.theme };
    closed.forEach((d) => { d.open = true; });
    root.dataset.theme = "light";
    charts.draw();
    charts.fit(670);
    lanes?.fit(670);
  });
  addEventListener("afterprint", () => {
    if (!before) return;
    before.closed.forEach((d) => { d.open = false; });
    if (before.theme) root.dataset.theme = before.theme;
    else delete root.dataset.theme;
    before = null;
    lanes?.fit();
    paint();
  });

  get("theme").hidden = false;
  if (axis.exists && lanes) {
    tools();
    lanes.draw();
  }
  paint();
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === width || before) return;
    width = innerWidth;
    lanes?.draw();
    charts.fit();
  });
  if (location.hash.length > 1 && get(location.hash.slice(1))) reveal(get(location.hash.slice(1)));
})();

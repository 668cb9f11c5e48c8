"use strict";
(() => {
  const root = document.documentElement;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];

  // Theme: kept where the browser lets a page keep something.
  const memory = {
    read() { try { return localStorage.getItem("kernelcoding-theme"); } catch { return null; } },
    write(value) { try { localStorage.setItem("kernelcoding-theme", value); } catch { /* not kept */ } },
  };
  const choices = all("input[name=theme]");
  const applyTheme = (name) => {
    if (name === "auto") delete root.dataset.theme; else root.dataset.theme = name;
    choices.forEach((choice) => { choice.checked = choice.value === name; });
  };
  const kept = memory.read();
  applyTheme(choices.some((choice) => choice.value === kept) ? kept : "auto");
  document.querySelector(".theme").hidden = false;
  choices.forEach((choice) => choice.addEventListener("change", () => {
    applyTheme(choice.value);
    memory.write(choice.value);
  }));

  // Sorting: a third press brings back the order of the records. Cells without a number come last.
  const announce = document.querySelector(".announce");
  const compare = (a, b) => {
    const [x, y] = [Number(a), Number(b)];
    if (a !== "" && b !== "" && !Number.isNaN(x) && !Number.isNaN(y)) return x - y;
    return a.localeCompare(b, "en", { numeric: true });
  };
  const sortTable = (table, column, direction) => {
    const body = table.tBodies[0];
    const rows = [...body.rows].sort((a, b) => {
      if (direction === "none") return a.dataset.position - b.dataset.position;
      const [x, y] = [a, b].map((row) => row.cells[column].dataset.order);
      if (x === undefined || y === undefined) return (x === undefined) - (y === undefined);
      return (direction === "ascending" ? 1 : -1) * compare(x, y);
    });
    body.append(...rows);
  };
  all("table").forEach((table) => {
    [...table.tBodies[0].rows].forEach((row, position) => { row.dataset.position = position; });
    all("button.sort", table).forEach((button) => button.addEventListener("click", () => {
      const head = button.closest("th");
      const cycle = head.classList.contains("number")
        ? ["none", "descending", "ascending"] : ["none", "ascending", "descending"];
      const direction = cycle[(cycle.indexOf(head.getAttribute("aria-sort")) + 1) % 3];
      all("th[aria-sort]", table).forEach((other) => other.setAttribute("aria-sort", "none"));
      head.setAttribute("aria-sort", direction);
      sortTable(table, head.cellIndex, direction);
      announce.textContent = direction === "none"
        ? "In the order of the records" : `Sorted by ${button.innerText.trim()}, ${direction}`;
    }));
  });

  // Only what scrolls is a stop of the keyboard.
  const stops = new ResizeObserver((entries) => entries.forEach(({ target }) => {
    if (target.scrollWidth > target.clientWidth) target.tabIndex = 0; else target.removeAttribute("tabindex");
  }));
  all(".scroll").forEach((box) => stops.observe(box));

  // Legends hide and show lines in the charts above and below them.
  all("button.key").forEach((key) => key.addEventListener("click", () => {
    const shown = key.getAttribute("aria-pressed") !== "true";
    key.setAttribute("aria-pressed", String(shown));
    all(`g[data-series="${key.dataset.series}"]`, key.closest(".figures"))
      .forEach((group) => group.classList.toggle("off", !shown));
  }));

  // A key under the pointer or in focus brings its line forward.
  const highlight = (key, isOn) => all("g[data-series]", key.closest(".figures"))
    .forEach((group) => group.classList.toggle("dim", isOn && group.dataset.series !== key.dataset.series));
  all("button.key").forEach((key) => {
    ["pointerenter", "focus"].forEach((name) => key.addEventListener(name, () => highlight(key, true)));
    ["pointerleave", "blur"].forEach((name) => key.addEventListener(name, () => highlight(key, false)));
  });

  // A link to something folded away unfolds it.
  const reveal = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let node = target; node; node = node.parentElement) if (node.tagName === "DETAILS") node.open = true;
    target.scrollIntoView();
    const focus = target.querySelector(":scope > summary");
    if (focus) focus.focus({ preventScroll: true });
  };
  addEventListener("hashchange", reveal);
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (link && link.getAttribute("href") === location.hash) reveal();
  });
  reveal();

  // On paper everything is open but the single records.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = all("details.fold:not(.sources):not([open])");
    opened.forEach((fold) => { fold.open = true; });
  });
  addEventListener("afterprint", () => opened.forEach((fold) => { fold.open = false; }));
})();

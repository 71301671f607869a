"use strict";
(function () {
  const root = document.documentElement;
  root.classList.add("scripted");
  const table = document.getElementById("kernels");
  const body = table ? table.tBodies[0] : null;
  const rows = body ? Array.from(body.rows) : [];
  const nameOf = function (id) { return document.querySelector("#" + id + " .name").textContent; };
  const search = document.getElementById("filter");
  const value = function (row, place) {
    const cell = row.cells[place];
    const text = cell.dataset.value;
    return text === undefined ? cell.textContent : text === "" ? null : Number(text);
  };
  const sortBy = function (button, place) {
    const head = button.closest("th");
    const up = head.getAttribute("aria-sort") === "descending";
    table.querySelectorAll("th").forEach(function (other) { other.removeAttribute("aria-sort"); });
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    rows.slice().sort(function (one, two) {
      const a = value(one, place), b = value(two, place);
      if (a === null || b === null) { return (a === null) - (b === null); }
      const order = typeof a === "number" ? a - b : a.localeCompare(b);
      return up ? order : -order;
    }).forEach(function (row) { body.appendChild(row); });
  };
  if (table) {
    table.querySelectorAll("th button").forEach(function (button) {
      const place = button.closest("th").cellIndex;
      button.addEventListener("click", function () { sortBy(button, place); });
    });
  }
  const shown = function () { return Array.from(body.rows).filter(function (row) { return !row.hidden; }); };
  if (search) {
    search.addEventListener("input", function () {
      const words = search.value.toLowerCase();
      rows.forEach(function (row) { row.hidden = nameOf(row.dataset.kernelId).toLowerCase().indexOf(words) < 0; });
      document.getElementById("matching").textContent = shown().length + " of " + rows.length;
      const ids = shown().map(function (row) { return row.dataset.kernelId; });
      document.dispatchEvent(new CustomEvent("filtered", { detail: words === "" ? null : new Set(ids) }));
    });
  }
  const mark = function () {
    const id = location.hash.slice(1);
    rows.forEach(function (row) { row.classList.toggle("current", row.dataset.kernelId === id); });
    document.querySelectorAll("svg [data-kernel-id]").forEach(function (shape) {
      const mine = shape.getAttribute("data-kernel-id") === id;
      shape.setAttribute("opacity", id === "" || mine || !/^k[0-9]+$/.test(id) ? "1" : "0.35");
    });
  };
  const step = function (by) {
    const list = shown();
    if (list.length === 0) { return; }
    const at = list.findIndex(function (row) { return "#" + row.dataset.kernelId === location.hash; });
    const next = list[Math.min(Math.max(at < 0 ? (by > 0 ? 0 : list.length - 1) : at + by, 0), list.length - 1)];
    location.hash = next.dataset.kernelId;
  };
  document.querySelectorAll("svg [data-kernel-id]").forEach(function (shape) {
    shape.style.cursor = "pointer";
    const id = shape.getAttribute("data-kernel-id");
    shape.addEventListener("click", function () { if (document.getElementById(id)) { location.hash = id; } });
  });
  const saveAs = function (name, kind, text) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: kind }));
    link.download = name;
    link.click();
    URL.revokeObjectURL(link.href);
  };
  const model = function () { return JSON.parse(document.getElementById("model").textContent); };
  const asCsv = function () {
    const tiers = ["dram", "l2", "l1"];
    const names = ["id", "kernel", "launches", "time", "share", "bound", "fraction", "complete", "path", "rate"];
    const quoted = function (one) {
      const text = one === null || one === undefined ? "" : String(one);
      return /[",\r\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
    };
    const lines = [["device"].concat(names, tiers.map(function (tier) { return "intensity." + tier; }))];
    model().forEach(function (chart) {
      chart.groups.forEach(function (group) {
        lines.push([chart.device].concat(
          names.map(function (name) { return group[name]; }), tiers.map(function (tier) { return group.intensity[tier]; })
        ));
      });
    });
    return lines.map(function (line) { return line.map(quoted).join(","); }).join("\n") + "\n";
  };
  const on = function (id, action) {
    const button = document.getElementById(id);
    if (button) { button.addEventListener("click", action); }
  };
  on("csv", function () { saveAs("roofline.csv", "text/csv", asCsv()); });
  on("json", function () { saveAs("roofline.json", "application/json", JSON.stringify(model(), null, 2) + "\n"); });
  document.addEventListener("keydown", function (event) {
    if (event.ctrlKey || event.metaKey || event.altKey) { return; }
    if (event.target === search && event.key === "Escape") { search.blur(); return; }
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) { return; }
    if (event.key === "j") { step(1); }
    else if (event.key === "k") { step(-1); }
    else if (event.key === "Escape") { location.hash = "none"; }
    else if (event.key === "/" && search) { event.preventDefault(); search.focus(); }
    else if (event.key === "?") { location.hash = "none"; document.getElementById("keys").focus(); }
  });
  document.querySelectorAll(".drawer .name, .command pre, pre.command").forEach(function (name) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = name.tagName === "PRE" ? "Copy command" : "Copy name";
    name.after(button);
    button.addEventListener("click", function () {
      window.getSelection().selectAllChildren(name);
      button.textContent = document.execCommand("copy") ? "Copied" : "Selected";
    });
  });
  window.addEventListener("hashchange", mark);
  mark();
  // With an interactive chart the page is ready when that is drawn.
  if (!document.getElementById("plots")) { root.setAttribute("data-ready", "true"); }
})();

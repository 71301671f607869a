"use strict";
// The static drawings become interactive: plotly draws the same marks, and a path, tiers, groups or launches are chosen.
(function () {
  const root = document.documentElement;
  const plots = JSON.parse(document.getElementById("plots").textContent);
  if (typeof Plotly === "undefined") { root.setAttribute("data-ready", "static"); return; }

  const SYMBOLS = { dram: "circle", l2: "diamond", l1: "square", shared: "pentagon", sysmem: "hexagon", nvlink: "hexagon" };
  const DASHES = { report: "solid", measured: "7px,4px" };
  const CONNECTED = 12, LIGHTER = 0.55, FAINT = 0.3, INSIDE = 7, APART = 28, CHARACTER = 6.3;
  // Pixels of the static drawing: margins, and where axes and strip begin and end.
  const MARGIN = { l: 66, r: 168, t: 40 }, AXES = 356, STRIP = 28, BETWEEN = 50, BELOW = 46;
  const CONFIG = { displaylogo: false, responsive: true, scrollZoom: false, typesetMath: false, plotlyServerURL: "",
    showTips: false, modeBarButtons: [["toImage", "zoom2d", "pan2d", "resetScale2d"]],
    toImageButtonOptions: { filename: "roofline", scale: 2 } };
  const NARROWEST = 560;

  const color = function (name) { return getComputedStyle(root).getPropertyValue("--" + name.replace(" ", "-")).trim(); };
  // Plotly takes texts for markup.
  const escaped = function (text) { return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;"); };
  const withUnit = function (value, unit) {
    const prefixes = ["", "k", "M", "G", "T", "P", "E"];
    const step = Math.min(Math.max(Math.floor(Math.log10(value) / 3), 0), 6);
    return (value / Math.pow(1000, step)).toPrecision(4) + " " + prefixes[step] + unit;
  };
  const selected = function () { return location.hash.slice(1); };
  let filtered = null;

  // A place on the axes: of a group or a launch, from its rates by path and tier.
  const placed = function (group, work, traffic, state) {
    const wanted = state.path && work[state.path] > 0;
    if (!wanted && group.tier === null) { return null; }
    const path = wanted ? state.path : group.path;
    // Outwards from DRAM, as everywhere.
    const tiers = Object.keys(SYMBOLS).filter(function (tier) { return state.tiers.has(tier) && traffic[tier] > 0; });
    if (!(work[path] > 0) || tiers.length === 0) { return null; }
    const tier = tiers.indexOf(group.tier) >= 0 ? group.tier : tiers[0];
    const others = tiers.filter(function (other) { return other !== tier; });
    return { path: path, tier: tier, faint: Boolean(state.path) && !wanted, light: state.chosen, y: work[path], x: work[path] / traffic[tier],
      ticks: others.map(function (other) { return { tier: other, x: work[path] / traffic[other] }; }) };
  };
  const opacity = function (group, place) {
    const id = selected();
    // Only groups with a row can be found in the table.
    if (filtered !== null && group.row && !filtered.has(group.id)) { return 0.1; }
    if (/^k[0-9]+$/.test(id)) { return group.id === id ? 1 : FAINT; }
    return place && place.faint && place.light ? LIGHTER : 1;
  };
  // Beyond the axes a mark is an arrow at the edge.
  const atEdge = function (place, scale) {
    const inset = { x: 8 / scale.x, y: 8 / scale.y }, x = Math.log10(place.x), y = Math.log10(place.y);
    const side = x < scale.frame.x[0] ? "left" : x > scale.frame.x[1] ? "right" : y > scale.frame.y[1] ? "up"
      : y < scale.frame.y[0] ? "down" : null;
    if (side === null) { return { x: place.x, y: place.y, side: null }; }
    return { side: side, x: Math.pow(10, Math.min(Math.max(x, scale.frame.x[0] + inset.x), scale.frame.x[1] - inset.x)),
      y: Math.pow(10, Math.min(Math.max(y, scale.frame.y[0] + inset.y), scale.frame.y[1] - inset.y)) };
  };
  const hover = function (group, place) {
    const lines = [group.label + " " + group.name, group.share + " of the time, " + group.launches,
      "bound by " + (group.bound || "nothing known") + ", " + group.roof + " of its roof"];
    lines.push(place ? place.path + " " + withUnit(place.y, "FLOP/s") + ", " + place.x.toPrecision(3) + " FLOP/byte at " + place.tier
      : "share of " + group.used[0] + ": " + (100 * group.used[1]).toFixed(1) + " %");
    if (group.wrong) { lines.push("error: see the findings"); }
    return lines.map(escaped).join("<br>");
  };

  const roofTraces = function (plot, state) {
    return plot.roofs.filter(function (roof) { return shownRoof(roof, state); }).map(function (roof) {
      const faint = !roof.tier && state.path && roof.name !== state.path;
      return { x: roof.ends.map(function (end) { return end[0]; }), y: roof.ends.map(function (end) { return end[1]; }),
        mode: "lines", name: "roof " + roof.name, opacity: faint ? LIGHTER : 1, hoverinfo: "text", meta: roof,
        text: escaped(roof.title + " " + roof.said + ", " + roof.source + (roof.at ? " at " + roof.at : "")),
        line: { color: color(roof.tier ? roof.name : "compute"), width: roof.used ? 2 : 1.2,
          dash: DASHES[roof.source] || "1.5px,3px" } };
    });
  };
  const shownRoof = function (roof, state) {
    return roof.ends !== null && (roof.used || state.others) && (!roof.tier || state.tiers.has(roof.name));
  };

  const groupTraces = function (plot, state, places, scale) {
    const perDecade = scale.x;
    const small = { x: [], y: [], mode: "markers", name: "tiers", hoverinfo: "skip",
      marker: { size: [], symbol: [], opacity: [], color: color("page"), line: { color: [], width: 1.5 } } };
    const lines = [];
    plot.groups.forEach(function (group, number) {
      const place = places[number];
      if (!place || atEdge(place, scale).side || place.ticks.length === 0 || (number >= CONNECTED && group.id !== selected())) { return; }
      // None below its own mark, which would take its hover.
      const apart = place.ticks.filter(function (tick) { return perDecade * Math.abs(Math.log10(tick.x / place.x)) >= group.r; });
      const all = [place.x].concat(place.ticks.map(function (tick) { return tick.x; }));
      const shade = opacity(group, place);
      lines.push({ x: [Math.min.apply(null, all), Math.max.apply(null, all)], y: [place.y, place.y], mode: "lines",
        name: "between", hoverinfo: "skip", opacity: shade, line: { color: color(group.kind), width: 1 } });
      apart.forEach(function (tick) {
        small.x.push(tick.x);
        small.y.push(place.y);
        small.marker.size.push(plot.groups.length === 1 ? 11 : 7);
        small.marker.symbol.push(SYMBOLS[tick.tier]);
        small.marker.opacity.push(shade);
        small.marker.line.color.push(color(group.kind));
      });
    });
    return lines.concat([small, markTrace(plot, places, scale)]);
  };
  const markTrace = function (plot, places, scale) {
    const shown = plot.groups.map(function (group, number) {
      const place = places[number];
      return { group: group, place: place, at: place && atEdge(place, scale), heavy: number < CONNECTED };
    }).filter(function (one) { return one.place; })
      .sort(function (one, two) { return two.group.r - one.group.r; });
    const of = function (value) { return shown.map(value); };
    const hollow = function (one) { return one.group.kind === "far" || one.at.side !== null; };
    const inside = function (one) { return one.group.r >= INSIDE && one.at.side === null; };
    const beside = function (one) { return one.at.side !== null || one.group.wrong || (one.heavy && !one.group.named); };
    return { x: of(function (one) { return one.at.x; }), y: of(function (one) { return one.at.y; }),
      customdata: of(function (one) { return one.group.id; }), mode: "markers+text", name: "groups", hoverinfo: "text",
      hovertext: of(function (one) { return hover(one.group, one.place); }),
      text: of(function (one) { return inside(one) || beside(one) ? one.group.label : ""; }),
      textposition: of(function (one) { return inside(one) ? "middle center" : one.at.side === "right" ? "middle left" : "middle right"; }),
      textfont: { color: of(function (one) {
        return color(!inside(one) ? "text" : hollow(one) ? one.group.kind : "on fill");
      }) },
      marker: { size: of(function (one) { return one.at.side ? 12 : 2 * one.group.r; }), sizemode: "diameter",
        symbol: of(function (one) { return one.at.side ? "triangle-" + one.at.side : SYMBOLS[one.place.tier]; }),
        opacity: of(function (one) { return opacity(one.group, one.place); }),
        color: of(function (one) { return color(hollow(one) ? "page" : one.group.kind); }),
        line: { width: 2, color: of(function (one) { return color(one.group.kind); }) } } };
  };
  const launchTrace = function (plot, state, scale) {
    const data = plot.launches, trace = { x: [], y: [], customdata: [], hovertext: [], mode: "markers", name: "launches",
      hoverinfo: "text", meta: 0, marker: { size: [], symbol: [], opacity: [], color: [] } };
    data.group.forEach(function (number, at) {
      const group = plot.groups[number], work = {}, traffic = {};
      Object.keys(data.rates).forEach(function (name) {
        (name in SYMBOLS ? traffic : work)[name] = data.rates[name][at];
      });
      const place = placed(group, work, traffic, state);
      if (!place) { trace.meta += data.n[at]; return; }
      const edge = atEdge(place, scale);
      trace.x.push(edge.x);
      trace.y.push(edge.y);
      trace.customdata.push(group.id);
      trace.hovertext.push(["launch " + data.launch[at] + " of " + group.label + " " + group.name, data.time[at],
        place.path + " " + withUnit(place.y, "FLOP/s") + ", " + place.x.toPrecision(3) + " FLOP/byte at " + place.tier,
      ].map(escaped).join("<br>") + (data.n[at] > 1 ? "<br>one of " + data.n[at] + " launches here" : ""));
      trace.marker.size.push(edge.side ? 12 : Math.min(9 + 2 * Math.log2(data.n[at]), 20));
      trace.marker.symbol.push(edge.side ? "triangle-" + edge.side + "-open" : SYMBOLS[place.tier]);
      trace.marker.opacity.push(0.7 * opacity(group, place));
      trace.marker.color.push(color(group.kind));
    });
    return trace;
  };
  const stripTrace = function (plot, places) {
    const shown = plot.groups.filter(function (group, number) { return !places[number] && group.used; });
    const of = function (value) { return shown.map(value); };
    const paint = function (group) { return color(group.used[2]); };
    return { x: of(function (group) { return Math.min(group.used[1], 1); }), y: of(function () { return 0; }), xaxis: "x2",
      yaxis: "y2", mode: "markers+text", name: "strip", hoverinfo: "text", textposition: "middle right",
      customdata: of(function (group) { return group.id; }), text: of(function (group) { return group.label; }),
      hovertext: of(function (group) { return hover(group, null); }), textfont: { color: color("text") },
      marker: { size: 12, symbol: "triangle-up", color: of(paint),
        opacity: of(function (group) { return opacity(group, null); }) } };
  };
  const restTrace = function (plot) {
    return { x: plot.rest[0], y: plot.rest[1], mode: "markers", name: "others", hoverinfo: "skip",
      marker: { size: 5, symbol: "square", color: color("muted"), opacity: 0.15 } };
  };

  // Labels.

  const slopeLabels = function (plot, state, scale) {
    const angle = Math.atan2(scale.y, scale.x);
    const slopes = plot.roofs.filter(function (roof) { return roof.tier && roof.used && shownRoof(roof, state); });
    const others = plot.roofs.filter(function (roof) { return !roof.used && shownRoof(roof, state); });
    const asides = others.map(function (roof) {
      const end = roof.ends[1];
      return { x: Math.log10(end[0]), y: Math.log10(end[1]), xanchor: "right", yanchor: "bottom", showarrow: false,
        captureevents: false, text: escaped(roof.title + " " + roof.said + ", " + roof.source),
        font: { size: 10, color: color(roof.tier ? roof.name : "compute") } };
    });
    // One label for slopes that lie on each other.
    return asides.concat(slopes.filter(function (roof, number) {
      return slopes.findIndex(function (other) { return Math.abs(other.value / roof.value - 1) < 0.03; }) === number;
    }).map(function (roof) {
      const said = roof.label || roof.title + " " + roof.said;
      const along = 0.33 * scale.x + CHARACTER * said.length / 2 * Math.cos(angle);
      const x = Math.log10(roof.ends[0][0]) + along / scale.x;
      return { x: x, y: Math.log10(roof.value) + x, text: escaped(said), showarrow: false, captureevents: false,
        textangle: -angle * 180 / Math.PI, xshift: -10 * Math.sin(angle), yshift: 10 * Math.cos(angle),
        font: { color: color(roof.name) } };
    }));
  };
  const pathLabels = function (plot, state, scale) {
    let last = Infinity;
    return plot.roofs.filter(function (roof) { return !roof.tier && roof.used && shownRoof(roof, state); })
      .sort(function (one, two) { return two.value - one.value; })
      .map(function (roof) {
        const at = scale.y * Math.log10(roof.value), shift = Math.min(0, last - APART - at);
        last = at + shift;
        const of = roof.source === "report" ? "" : " (" + roof.source + ")";
        return { x: 1, xref: "paper", xanchor: "left", xshift: 6, y: Math.log10(roof.value), yanchor: "middle", yshift: shift,
          align: "left", showarrow: false, captureevents: false, opacity: state.path && roof.name !== state.path ? 0.6 : 1,
          text: "<span style='color:" + color("compute") + "'>" + escaped(roof.title) + "</span><br>" + escaped(roof.said + of),
          font: { color: color("muted") } };
      });
  };
  const ridges = function (plot, state) {
    const dram = plot.roofs.find(function (roof) { return roof.name === "dram" && roof.used && shownRoof(roof, state); });
    return !dram ? [] : plot.roofs.filter(function (roof) {
      return !roof.tier && roof.used && roof.ends !== null && (!state.path || roof.name === state.path);
    }).map(function (roof) { return { x: roof.value / dram.value, y: roof.value }; });
  };
  // Ridges whose labels do not meet.
  const spaced = function (lines, perDecade) {
    let last = -Infinity;
    return lines.slice().sort(function (one, two) { return one.x - two.x; }).filter(function (one) {
      const at = perDecade * Math.log10(one.x);
      if (at - last < 2 * APART) { return false; }
      last = at;
      return true;
    });
  };
  const names = function (plot, places, scale) {
    return plot.groups.map(function (group, number) { return { group: group, place: places[number] }; })
      .filter(function (one) { return one.place && one.group.place && !atEdge(one.place, scale).side; })
      .map(function (one) {
        return { x: Math.log10(one.place.x), y: Math.log10(one.place.y), xanchor: "left", yanchor: "middle",
          xshift: one.group.place[0], yshift: 4 - one.group.place[1], showarrow: false, captureevents: false,
          text: escaped(one.group.named), opacity: opacity(one.group, one.place), font: { color: color("text") } };
      });
  };

  // Pixels per decade, and the decades that are seen, after zooming too.
  const scaleOf = function (plot, seen) {
    const xs = seen.x || plot.x.map(Math.log10), ys = seen.y || plot.y.map(Math.log10);
    return { x: (seen.width - MARGIN.l - MARGIN.r) / (xs[1] - xs[0]), y: AXES / (ys[1] - ys[0]), xs: xs, ys: ys,
      frame: { x: plot.x.map(Math.log10), y: plot.y.map(Math.log10) } };
  };
  const layoutOf = function (plot, state, places, hasStrip, scale) {
    const area = AXES + (hasStrip ? BETWEEN + STRIP : 0), bottom = hasStrip ? 1 - AXES / area : 0, ys = scale.ys;
    const axis = function (machine, seen) {
      return { type: "log", range: machine.map(Math.log10), gridcolor: color("grid"), linecolor: color("line"), mirror: true,
        zeroline: false, tickfont: { color: color("muted") }, dtick: seen[1] - seen[0] > 2 ? 1 : undefined };
    };
    const lines = ridges(plot, state);
    const said = function (text, shift, look) {
      return { x: 0, y: 1, xref: "paper", yref: "paper", xanchor: "left", yanchor: "bottom", yshift: shift, showarrow: false,
        text: escaped(text), font: look, align: "left" };
    };
    const layout = {
      height: MARGIN.t + area + (hasStrip ? BELOW : 42), margin: Object.assign({ b: hasStrip ? BELOW : 42 }, MARGIN),
      paper_bgcolor: color("page"), plot_bgcolor: color("page"), showlegend: false, hovermode: "closest", uirevision: "zoom",
      font: { family: "system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif", size: 11, color: color("text") },
      xaxis: Object.assign({ title: { text: "intensity, FLOP/byte", standoff: 6 }, tickformat: "~r", anchor: "y" },
        axis(plot.x, scale.xs)),
      yaxis: Object.assign({ title: { text: "FLOP/s" }, domain: [bottom, 1], exponentformat: "SI" }, axis(plot.y, ys)),
      shapes: lines.map(function (one) {
        return { type: "line", x0: one.x, x1: one.x, y0: Math.pow(10, ys[0]), y1: one.y, layer: "below",
          line: { color: color("muted"), width: 1, dash: "1px,3px" } };
      }),
      annotations: slopeLabels(plot, state, scale).concat(pathLabels(plot, state, scale),
        state.points === "groups" ? names(plot, places, scale) : [], [
          said(plot.heading[0], 18, { size: 13, color: color("text"), weight: 600 }), said(plot.heading[1].split(". ")[0], 2, { color: color("muted") }),
        ], spaced(lines, scale.x).map(function (one) {
          return { x: Math.log10(one.x), y: ys[0], xanchor: "left", yanchor: "bottom", xshift: 2, showarrow: false,
            text: "ridge " + one.x.toPrecision(3), font: { color: color("muted") } };
        }), plot.none === "" ? [] : [{ x: 0.5, y: 0.5, xref: "paper", yref: "paper", showarrow: false, text: escaped(plot.none),
          font: { color: color("muted") } }]),
    };
    if (hasStrip) {
      layout.xaxis2 = { range: [0, 1], anchor: "y2", tickvals: [0, 0.25, 0.5, 0.75, 1], fixedrange: true, zeroline: false,
        ticktext: ["0 %", "25 %", "50 %", "75 %", "100 %"], showgrid: false, linecolor: color("line"), mirror: true,
        tickfont: { color: color("muted") },
        title: { text: "no counted FLOP or no bytes: share of the ceiling that is used most", standoff: 2,
          font: { size: 11, color: color("muted") } } };
      layout.yaxis2 = { domain: [0, STRIP / area], range: [-1, 1], visible: false, fixedrange: true };
    }
    return layout;
  };

  const begin = function (section, plot) {
    const at = section.querySelector(".plot"), view = section.querySelector(".view"), fixed = section.querySelector(".static");
    const path = view.querySelector(".path"), points = view.querySelector(".points"), others = view.querySelector(".others");
    const boxes = Array.from(view.querySelectorAll(".tier"));
    if (at.parentElement.clientWidth < NARROWEST) { return null; }
    if (plot.launches === null) { points.closest("label").hidden = true; }
    let chosen = false;
    path.addEventListener("change", function () { chosen = true; });
    // The last tier stays.
    const keepOne = function () {
      const left = boxes.filter(function (box) { return box.checked; });
      boxes.forEach(function (box) { box.disabled = left.length === 1 && box.checked; });
    };
    const draw = function () {
      keepOne();
      const state = { path: path.value, chosen: chosen, points: points.value, others: Boolean(others && others.checked),
        tiers: new Set(boxes.filter(function (box) { return box.checked; }).map(function (box) { return box.value; })) };
      // Bytes of a tier without a ceiling place a mark as well; its box is not there to be unchecked.
      Object.keys(SYMBOLS).forEach(function (tier) {
        if (!boxes.some(function (box) { return box.value === tier; })) { state.tiers.add(tier); }
      });
      const places = plot.groups.map(function (group) { return placed(group, group.work, group.traffic, state); });
      const strip = stripTrace(plot, places);
      const full = at.layout && at.layout.xaxis;
      const size = { width: at.clientWidth || 800, x: full && at.layout.xaxis.range, y: full && at.layout.yaxis.range };
      const scale = scaleOf(plot, size), layout = layoutOf(plot, state, places, strip.x.length > 0, scale);
      const launches = state.points === "launches" ? launchTrace(plot, state, scale) : null;
      const shown = launches ? [launches] : [restTrace(plot)].concat(groupTraces(plot, state, places, scale));
      const faint = places.filter(function (place) { return place && place.faint; }).length;
      const gone = plot.groups.filter(function (group, number) { return !places[number] && !group.used; }).length;
      view.querySelector(".said").textContent = [
        faint ? faint + " without work on " + state.path + ": at the path that leads them." : "",
        gone ? gone + " without a place and without a ceiling." : "",
        launches && launches.meta ? launches.meta + " launches without FLOP or bytes." : "",
        plot.heading[1].split(". ").slice(1).join(". "),
      ].filter(Boolean).join(" ");
      return Plotly.react(at, roofTraces(plot, state).concat(shown, strip.x.length > 0 ? [strip] : []), layout, CONFIG);
    };
    fixed.classList.add("replaced");
    at.hidden = view.hidden = false;
    // Who cannot see the chart has the table; the keyboard does not go into what is hidden from them.
    const unfocused = function () {
      at.querySelectorAll("button, a, [tabindex]").forEach(function (one) { one.setAttribute("tabindex", "-1"); });
    };
    return draw().then(function () {
      at.on("plotly_click", function (event) {
        const id = event.points[0].customdata;
        if (id) { location.hash = id; }
      });
      at.on("plotly_relayout", function (change) {
        if (Object.keys(change).some(function (key) { return /axis|size/.test(key); })) { draw(); }
      });
      [path, points, others].concat(boxes).forEach(function (control) {
        if (control) { control.addEventListener("change", draw); }
      });
      unfocused();
      at.on("plotly_afterplot", unfocused);
      window.addEventListener("hashchange", draw);
      document.addEventListener("filtered", function (event) { filtered = event.detail; draw(); });
      window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
    });
  };

  Promise.all(Array.from(document.querySelectorAll(".roofline")).map(function (section) {
    const plot = plots[Number(section.dataset.chart)];
    return plot ? begin(section, plot) : null;
  })).then(function () { root.setAttribute("data-ready", "true"); });
})();

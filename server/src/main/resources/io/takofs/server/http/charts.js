// Draws the server's last hour. Without it the page has the numbers of the moment.
"use strict";
(() => {
  const PERIOD_MS = 10000;
  const HEIGHT = 180;
  const LEAST_SPAN_S = 300;
  const KIB = 1024;

  // 1-2-5 steps are odd sizes in KiB; powers of two are not.
  const BINARY_STEPS = Array.from({length: 60}, (_, power) => 2 ** power);

  function scaled(value, step, units) {
    let unit = 0;
    while (value >= step && unit < units.length - 1) {
      value /= step;
      unit++;
    }
    const digits = value >= 100 || Number.isInteger(value) ? 0 : value >= 10 ? 1 : 2;
    return String(Number(value.toFixed(digits))) + units[unit];
  }

  const bytes = value => scaled(value, KIB, [" B", " KiB", " MiB", " GiB", " TiB", " PiB"]);
  const formats = {
    count: value => scaled(value, 1000, ["", " k", " M", " G"]),
    time: value => scaled(value, 1000, [" ns", " us", " ms", " s"]),
    bytes,
    rate: value => bytes(value) + "/s",
  };

  const CHARTS = [
    {title: "Calls a second", key: "calls_per_s", format: "count"},
    {title: "Bytes a second", key: "bytes_per_s", format: "rate", binary: true,
      names: {written: "written to files", sent: "sent by the server"}},
    {title: "Latency of calls", key: "latency_ns", format: "time", logarithmic: true,
      names: {p99: "99 %"}},
    {title: "Space", key: "space_bytes", format: "bytes", binary: true, fill: true},
  ];

  function options(chart, names, width) {
    const style = getComputedStyle(document.documentElement);
    const colour = name => style.getPropertyValue(name).trim();
    const format = formats[chart.format];
    const show = (plot, value, line, at) => {
      const values = plot.data[line];
      const shown = at === null ? values[values.length - 1] : value;
      return shown === null || shown === undefined ? "-" : format(shown);
    };
    const when = (plot, value) => value === null ? "now"
      : new Date(value * 1000).toLocaleTimeString([], {hour12: false});
    const powersOfTen = (plot, ticks) =>
      ticks.map(tick => Number.isInteger(Math.log10(tick)) ? tick : null);
    const ink = {stroke: colour("--ink"), grid: {stroke: colour("--grid"), width: 1},
      ticks: {show: false}};
    return {
      width, height: HEIGHT,
      cursor: {sync: {key: "tako"}, drag: {x: false, y: false}},
      scales: {
        x: {range: (plot, from, to) => [Math.min(from, to - LEAST_SPAN_S), to]},
        y: chart.logarithmic ? {distr: 3} : {range: (plot, from, to) => [0, (to || 1) * 1.1]},
      },
      axes: [
        {...ink, space: 60, size: 28, values: [
          [60, "{HH}:{mm}", null, null, null, null, null, null, 1],
          [1, "{HH}:{mm}:{ss}", null, null, null, null, null, null, 1]]},
        {...ink, space: 36, size: 76, 
          values: (plot, ticks) => ticks.map(tick => tick === null ? "" : format(tick)),
          ...(chart.binary ? {incrs: BINARY_STEPS} : {}),
          ...(chart.logarithmic ? {grid: {...ink.grid, filter: powersOfTen}} : {})},
      ],
      series: [
        {label: "at", value: when},
        ...names.map((name, index) => ({
          label: (chart.names && chart.names[name]) || name,
          stroke: colour("--line-" + index),
          fill: chart.fill && index === 0 ? colour("--line-" + index) + "33" : undefined,
          width: 1.5,
          value: show,
        })),
      ],
    };
  }

  let last = null; // the samples that are shown
  const drawn = new Map(); // by chart: {plot, lines}

  function figure(place, chart) {
    const made = document.createElement("figure");
    made.id = "chart-" + chart.key;
    const caption = document.createElement("figcaption");
    caption.textContent = chart.title;
    made.append(caption);
    place.append(made);
    return made;
  }

  function draw(place) {
    for (const chart of CHARTS) {
      const names = Object.keys(last[chart.key]);
      const data = [last.time_s, ...names.map(name => last[chart.key][name])];
      const lines = names.join(" ");
      const old = drawn.get(chart.key);
      if (old && old.lines === lines) {
        old.plot.setData(data);
      } else {
        const frame = document.getElementById("chart-" + chart.key) || figure(place, chart);
        if (old) {
          old.plot.destroy();
        }
        const plot = new uPlot(options(chart, names, frame.clientWidth), data, frame);
        drawn.set(chart.key, {plot, lines});
      }
    }
  }

  function redraw() {
    const place = document.getElementById("charts");
    if (place && last) {
      drawn.forEach(each => each.plot.destroy());
      drawn.clear();
      draw(place);
    }
  }

  async function samples() {
    try {
      const response = await fetch("/history", {cache: "no-store"});
      return response.ok ? await response.json() : null;
    } catch (failure) {
      return null; // the page says that the server does not answer; the charts stay as they are
    }
  }

  async function show() {
    const fresh = await samples();
    const place = document.getElementById("charts");
    if (fresh && place) {
      last = fresh;
      if (!place.firstChild) {
        const heading = document.createElement("h2");
        heading.textContent = "The last hour";
        place.append(heading);
      }
      draw(place);
    }
    setTimeout(show, PERIOD_MS);
  }

  let due = 0;
  addEventListener("resize", () => {
    clearTimeout(due);
    due = setTimeout(redraw, 100);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  show();
})();

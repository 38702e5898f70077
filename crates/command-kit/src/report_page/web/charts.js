// The parts of reports: elements, formatted numbers, and three kinds of SVG charts. Bars and points show their numbers while the
// pointer is on them. A chart is drawn in CSS pixels, and again when its width changes, so its text keeps its size.

const SVG = "http://www.w3.org/2000/svg";
const NAMED = { headers: "--part-headers", sets: "--part-sets", position: "--part-position", orientation: "--part-orientation", rotation: "--part-orientation" };
const OTHERS = 6;
const SERIES = 6;
/** A chart with more points than this has no marks on them. */
const MOST_MARKS = 60;
/** The approximate width of a label's character. */
const CHARACTER_PX = 6.8;

/** The colours of the parts of a packet: fields by name, and sets, as in the demo. */
function partColours(names) {
  const others = names.filter((name) => !NAMED[name]);
  return names.map((name) => `var(${NAMED[name] ?? `--field-${others.indexOf(name) % OTHERS}`})`);
}

/** The colours of compared lines. */
function seriesColours(names) {
  return names.map((_, index) => `var(--series-${index % SERIES})`);
}

/** An element with attributes and children, which may be texts. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children.flat());
  return made;
}

function shape(name, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function section(title, note, ...children) {
  return element("section", {}, element("h2", {}, title), note ? element("p", { class: "note" }, note) : "", ...children);
}

/** A number with about three digits. */
function short(value) {
  if (value === null || value === undefined) return "";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 100000 || size < 0.0001) return value.toExponential(2);
  const digits = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 4;
  return value.toLocaleString("en", { maximumFractionDigits: digits });
}

function percent(share) {
  return `${(100 * share).toFixed(1)} %`;
}

/** A table with a header. Texts are unchanged, numbers are shortened. */
function tableOf(header, rows) {
  const cell = (value) => element("td", {}, typeof value === "number" ? short(value) : value ?? "");
  return element("div", { class: "scroll" }, element("table", {},
    element("thead", {}, element("tr", {}, header.map((name) => element("th", { scope: "col" }, name)))),
    element("tbody", {}, rows.map((row) => element("tr", {}, row.map(cell))))));
}

function legend(names, colours) {
  return element("ul", { class: "legend" }, names.map((name, index) =>
    element("li", {}, element("span", { class: "swatch", style: `background: ${colours[index]}` }), name)));
}

/** An element that `draw` fills for the present width. */
function sized(draw) {
  const place = element("div", { class: "sized" });
  let drawn = 0;
  new ResizeObserver(([entry]) => {
    const width = Math.floor(entry.contentRect.width);
    if (width === drawn || width < 40) return;
    drawn = width;
    place.replaceChildren(draw(width));
  }).observe(place);
  return place;
}

function canvas(width, height, label) {
  return shape("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label });
}

const tip = document.getElementById("tip");

/** Shows a text while the pointer is on an element or the element has the focus. */
function says(target, text) {
  const show = (x, y) => {
    tip.textContent = text;
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(4, Math.min(x + 12, window.innerWidth - box.width - 4))}px`;
    tip.style.top = `${Math.max(4, y - box.height - 10)}px`;
  };
  target.addEventListener("pointermove", (event) => show(event.clientX, event.clientY));
  target.addEventListener("focus", () => {
    const box = target.getBoundingClientRect();
    show(box.left, box.top);
  });
  for (const end of ["pointerleave", "blur"]) target.addEventListener(end, () => { tip.hidden = true; });
  return target;
}

/** Round numbers from 0 to a little above `top`, about `parts` of them. */
function ticks(top, parts = 4) {
  const raw = top / parts || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((times) => times * power).find((size) => size >= raw * (1 - 1e-6));
  return Array.from({ length: Math.ceil(top / step - 1e-9) + 1 }, (_, index) => index * step);
}

/** Stacked bars: `rows` are { name, parts }, `names` are the names of the parts. */
function stackedBars(rows, names, unit) {
  const colours = partColours(names);
  const total = (row) => row.parts.reduce((sum, part) => sum + part, 0);
  const most = Math.max(...rows.map(total), 1e-9);
  const words = rows.map((row) => `${short(total(row))} ${unit}`);
  const room = (texts) => Math.ceil(Math.max(...texts.map((text) => text.length), 0) * CHARACTER_PX) + 10;
  const draw = (width) => {
    const names_px = room(rows.map((row) => row.name));
    const right = room(words);
    // A narrow chart has the names above the bars.
    const isNarrow = width < names_px + right + 240;
    const [left, line, bar] = isNarrow ? [0, 38, 18] : [names_px, 24, 4];
    const scale = (width - left - right) / most;
    const chart = canvas(width, rows.length * line, `by level, in ${unit}`);
    rows.forEach((row, index) => {
      const y = index * line;
      if (isNarrow) chart.append(shape("text", { x: 0, y: y + 13 }, row.name));
      else chart.append(shape("text", { x: left - 8, y: y + 16, "text-anchor": "end" }, row.name));
      let x = left;
      row.parts.forEach((part, nth) => {
        chart.append(shape("rect", { x, y: y + bar, width: part * scale, height: 16, style: `fill: ${colours[nth]}` }));
        x += part * scale;
      });
      chart.append(shape("text", { class: "value", x: x + 6, y: y + bar + 12 }, words[index]));
      const all = names.map((name, nth) => `${name}: ${short(row.parts[nth])} ${unit}`).join("\n");
      chart.append(says(shape("rect", { class: "hit", x: left, y: y + bar - 3, width: width - left, height: 22, tabindex: 0 }), `${row.name}\n${all}`));
    });
    return chart;
  };
  return element("figure", {}, legend(names, colours), sized(draw));
}

/**
 * A line chart: `lines` are { name, points: [[x, y]], isArea }, `x` and `y` are { name, unit }. `least` is the least room for the
 * labels of `y`, in characters, so that charts below each other have one axis.
 */
function lineChart(lines, x, y, { hasLegend = true, least = 0 } = {}) {
  const colours = seriesColours(lines);
  const xs = [...new Set(lines.flatMap((line) => line.points.map((point) => point[0])))].sort((a, b) => a - b);
  const yTicks = ticks(Math.max(...lines.flatMap((line) => line.points.map((point) => point[1])), 1e-9));
  const [low, high] = [Math.min(...xs, 0), Math.max(...xs)];
  const isDense = xs.length > MOST_MARKS;
  const found = lines.map((line) => [line.name, new Map(line.points)]);
  // The first line is thicker, so that it is visible around lines that coincide with it.
  const thick = (index) => (isDense ? (lines[index].isArea ? 0.5 : 0.9) : index === 0 && lines.length > 1 ? 2 : 1);
  const draw = (width) => {
    const height = 220, right = 14, top = 12, bottom = 40;
    const left = Math.ceil(Math.max(least, ...yTicks.map((tick) => short(tick).length)) * CHARACTER_PX) + 12;
    const atX = (value) => left + ((value - low) / (high - low || 1)) * (width - left - right);
    const atY = (value) => height - bottom - (value / yTicks.at(-1)) * (height - top - bottom);
    const chart = canvas(width, height, `${y.name} (${y.unit}) over ${x.name} (${x.unit})`);
    for (const tick of yTicks) {
      chart.append(shape("line", { class: "axis", x1: left, x2: width - right, y1: atY(tick), y2: atY(tick) }));
      chart.append(shape("text", { x: left - 6, y: atY(tick) + 4, "text-anchor": "end" }, short(tick)));
    }
    for (const tick of ticks(high, Math.max(4, Math.floor(width / 110))).filter((tick) => tick >= low && tick <= high)) {
      chart.append(shape("text", { x: atX(tick), y: height - bottom + 16, "text-anchor": "middle" }, short(tick)));
    }
    chart.append(shape("text", { x: (left + width - right) / 2, y: height - 5, "text-anchor": "middle" }, `${x.name} (${x.unit})`));
    lines.forEach((line, index) => {
      if (!line.points.length) return;
      const path = line.points.map((point, nth) => `${nth ? "L" : "M"}${atX(point[0])} ${atY(point[1])}`).join("");
      if (line.isArea) {
        const ends = [line.points.at(-1), line.points[0]].map(([at]) => `L${atX(at)} ${atY(0)}`).join("");
        chart.append(shape("path", { d: `${path}${ends}Z`, style: `fill: ${colours[index]}; fill-opacity: .15` }));
      }
      chart.append(shape("path", { d: path, style: `fill: none; stroke: ${colours[index]}; stroke-width: ${2 * thick(index)}` }));
      if (isDense) return;
      for (const point of line.points) {
        chart.append(shape("circle", { cx: atX(point[0]), cy: atY(point[1]), r: thick(index) + 2, style: `fill: ${colours[index]}` }));
      }
    });
    const half = xs.length > 1 ? (width - left - right) / (xs.length - 1) / 2 : 40;
    for (const at of xs) {
      const words = found.filter(([, of]) => of.has(at)).map(([name, of]) => `${name}: ${short(of.get(at))} ${y.unit}`).join("\n");
      const hit = shape("rect", { class: "hit", x: atX(at) - half, y: top, width: 2 * half, height: height - top - bottom });
      // Hundreds of points would be too many stops for the keyboard.
      if (!isDense) hit.setAttribute("tabindex", 0);
      chart.append(says(hit, `${x.name}: ${short(at)} ${x.unit}\n${words}`));
    }
    return chart;
  };
  const title = element("figcaption", {}, element("h3", {}, `${y.name} (${y.unit})`));
  return element("figure", { class: "lines" }, title, hasLegend ? legend(lines.map((line) => line.name), colours) : "", sized(draw));
}

/** Bins of equal width: `bins` are { first, width, counts }; `at` formats the beginning of a bin. */
function histogram(bins, at, isLogarithmic, colour) {
  const size = (count) => isLogarithmic ? Math.log10(1 + count) : count;
  const top = Math.max(...bins.counts.map(size), 1e-9);
  const total = bins.counts.reduce((sum, count) => sum + count, 0) || 1;
  return sized((width) => {
    const height = 104, bottom = 18;
    const step = width / Math.max(bins.counts.length, 1);
    const chart = canvas(width, height, "histogram");
    chart.append(shape("line", { class: "axis", x1: 0, x2: width, y1: height - bottom, y2: height - bottom }));
    bins.counts.forEach((count, index) => {
      const tall = (size(count) / top) * (height - bottom - 4);
      chart.append(shape("rect", { x: index * step, y: height - bottom - tall, width: Math.max(step - 1, 0.5), height: tall, style: `fill: ${colour}` }));
      const from = bins.first + index * bins.width;
      const words = bins.width > 1 ? `${at(from)} to ${at(from + bins.width - 1)}` : at(from);
      chart.append(says(shape("rect", { class: "hit", x: index * step, y: 0, width: step, height: height - bottom }), `${words}\n${count.toLocaleString("en")} (${percent(count / total)})`));
    });
    if (bins.counts.length) {
      chart.append(shape("text", { x: 0, y: height - 4 }, at(bins.first)));
      chart.append(shape("text", { x: width, y: height - 4, "text-anchor": "end" }, at(bins.first + bins.counts.length * bins.width - 1)));
    }
    return chart;
  });
}

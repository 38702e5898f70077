// What reports are drawn with: elements, numbers as words, and three kinds of charts as SVG. Each bar and point says its numbers when it is pointed at.

const SVG = "http://www.w3.org/2000/svg";
const COLOURS = ["--part-position", "--part-orientation", "--axis-y", "--part-others", "--part-sets", "--axis-x", "--axis-w", "--part-headers"];

function colour(index) {
  return `var(${COLOURS[index % COLOURS.length]})`;
}

/** An element with attributes and children, which may be words. */
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

/** Rows under a header; words are left as they are, numbers shortened. */
function tableOf(header, rows) {
  const cell = (value) => element("td", {}, typeof value === "number" ? short(value) : value ?? "");
  return element("div", { class: "scroll" }, element("table", {},
    element("thead", {}, element("tr", {}, header.map((name) => element("th", { scope: "col" }, name)))),
    element("tbody", {}, rows.map((row) => element("tr", {}, row.map(cell))))));
}

function legend(names) {
  return element("ul", { class: "legend" }, names.map((name, index) =>
    element("li", {}, element("span", { class: "swatch", style: `background: ${colour(index)}` }), name)));
}

const tip = document.getElementById("tip");

/** Says something while an element is pointed at or has the focus. */
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

/** Round numbers from 0 to a little above `top`. */
function ticks(top) {
  const raw = top / 4 || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((times) => times * power).find((size) => size >= raw);
  return Array.from({ length: Math.ceil(top / step - 1e-9) + 1 }, (_, index) => index * step);
}

/** Rows of parts beside each other: `rows` are { name, parts }, `names` those of the parts. */
function stackedBars(rows, names, unit) {
  const width = 900, left = 150, right = 80, line = 22;
  const total = (row) => row.parts.reduce((sum, part) => sum + part, 0);
  const scale = (width - left - right) / Math.max(...rows.map(total), 1e-9);
  const chart = shape("svg", { viewBox: `0 0 ${width} ${rows.length * line}`, role: "img" });
  rows.forEach((row, index) => {
    const y = index * line;
    chart.append(shape("text", { x: left - 8, y: y + 15, "text-anchor": "end" }, row.name));
    let x = left;
    row.parts.forEach((part, nth) => {
      chart.append(shape("rect", { x, y: y + 3, width: part * scale, height: line - 6, style: `fill: ${colour(nth)}` }));
      x += part * scale;
    });
    chart.append(shape("text", { x: x + 6, y: y + 15 }, `${short(total(row))} ${unit}`));
    const words = names.map((name, nth) => `${name}: ${short(row.parts[nth])} ${unit}`).join("\n");
    chart.append(says(shape("rect", { class: "hit", x: left, y, width: width - left, height: line, tabindex: 0 }), `${row.name}\n${words}`));
  });
  return element("figure", {}, legend(names), chart);
}

/** Lines over numbers: `lines` are { name, points: [[x, y]] }. */
function lineChart(lines, xName, yName) {
  const width = 640, height = 260, left = 52, right = 16, top = 10, bottom = 36;
  const xs = [...new Set(lines.flatMap((line) => line.points.map((point) => point[0])))].sort((a, b) => a - b);
  const yTicks = ticks(Math.max(...lines.flatMap((line) => line.points.map((point) => point[1])), 1e-9));
  const [low, high] = [Math.min(...xs, 0), Math.max(...xs)];
  const x = (value) => left + ((value - low) / (high - low || 1)) * (width - left - right);
  const y = (value) => height - bottom - (value / yTicks.at(-1)) * (height - top - bottom);
  const chart = shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" });
  for (const tick of yTicks) {
    chart.append(shape("line", { class: "axis", x1: left, x2: width - right, y1: y(tick), y2: y(tick) }));
    chart.append(shape("text", { x: left - 6, y: y(tick) + 4, "text-anchor": "end" }, short(tick)));
  }
  for (const tick of ticks(high).filter((tick) => tick >= low && tick <= high)) {
    chart.append(shape("text", { x: x(tick), y: height - bottom + 15, "text-anchor": "middle" }, short(tick)));
  }
  chart.append(shape("text", { x: (left + width - right) / 2, y: height - 4, "text-anchor": "middle" }, xName));
  lines.forEach((line, index) => {
    const path = line.points.map((point, nth) => `${nth ? "L" : "M"}${x(point[0])} ${y(point[1])}`).join("");
    chart.append(shape("path", { d: path, style: `fill: none; stroke: ${colour(index)}; stroke-width: 2` }));
    for (const point of line.points) {
      chart.append(shape("circle", { cx: x(point[0]), cy: y(point[1]), r: 3, style: `fill: ${colour(index)}` }));
    }
  });
  const half = xs.length > 1 ? (width - left - right) / (xs.length - 1) / 2 : 40;
  for (const at of xs) {
    const found = lines.map((line) => [line.name, line.points.find((point) => point[0] === at)]).filter(([, point]) => point);
    const words = found.map(([name, point]) => `${name}: ${short(point[1])} ${yName}`).join("\n");
    chart.append(says(shape("rect", { class: "hit", x: x(at) - half, y: top, width: 2 * half, height: height - top - bottom, tabindex: 0 }), `${short(at)} ${xName}\n${words}`));
  }
  return element("figure", {}, legend(lines.map((line) => line.name)), chart);
}

/** Bins of equal width: `bins` are { first, width, counts }; `at` says what a bin's beginning is in words. */
function histogram(bins, at, isLogarithmic) {
  const width = 320, height = 96, bottom = 16;
  const size = (count) => isLogarithmic ? Math.log10(1 + count) : count;
  const top = Math.max(...bins.counts.map(size), 1e-9);
  const total = bins.counts.reduce((sum, count) => sum + count, 0) || 1;
  const step = width / Math.max(bins.counts.length, 1);
  const chart = shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" });
  chart.append(shape("line", { class: "axis", x1: 0, x2: width, y1: height - bottom, y2: height - bottom }));
  bins.counts.forEach((count, index) => {
    const tall = (size(count) / top) * (height - bottom - 4);
    chart.append(shape("rect", { x: index * step, y: height - bottom - tall, width: Math.max(step - 1, 0.5), height: tall, style: `fill: ${colour(0)}` }));
    const from = bins.first + index * bins.width;
    const words = bins.width > 1 ? `${at(from)} to ${at(from + bins.width - 1)}` : at(from);
    chart.append(says(shape("rect", { class: "hit", x: index * step, y: 0, width: step, height: height - bottom }), `${words}\n${count.toLocaleString("en")} (${percent(count / total)})`));
  });
  if (bins.counts.length) {
    chart.append(shape("text", { x: 0, y: height - 3 }, at(bins.first)));
    chart.append(shape("text", { x: width, y: height - 3, "text-anchor": "end" }, at(bins.first + bins.counts.length * bins.width - 1)));
  }
  return chart;
}

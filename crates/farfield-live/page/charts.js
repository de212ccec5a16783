// Small charts of the diagnostics, with reference curves from theory or papers as dashed lines.

/** @typedef {{ column: string, label: string, points: [number, number][] }} Reference */

/** The columns of each chart, in order of importance; at most four charts are shown. */
const CHARTS = [
  { title: "radius", match: /^(ring|knot)\d+_radius$/ },
  { title: "drag", match: /^drag_/ },
  { title: "lift", match: /^lift_/ },
  { title: "energy", match: /^(kinetic_|potential_)?energy$/ },
  { title: "impulse", match: /^impulse_[xyz]$/ },
  { title: "virial ratio", match: /^virial_ratio$/ },
  { title: "angular momentum", match: /^angular_momentum_[xyz]$/ },
  { title: "enstrophy", match: /^enstrophy$/ },
];
const MOST = 4;
const INKS = ["#ff8a3c", "#3fa8f0", "#7fbf3f", "#d060e0", "#d8a820", "#20b890"];

export class Charts {
  /** @param {HTMLElement} place */
  constructor(place) {
    this.place = place;
    /** @type {string[]} */ this.columns = [];
    /** @type {Reference[]} */ this.references = [];
    /** Step, time, and the columns. @type {(number | null)[][]} */ this.rows = [];
    /** @type {{ title: string, columns: number[], canvas: HTMLCanvasElement, caption: HTMLElement }[]} */
    this.charts = [];
  }

  /** @param {string[]} columns @param {Reference[]} references */
  describe(columns, references) {
    this.references = references;
    if (columns.join() === this.columns.join()) return;
    this.columns = columns;
    this.place.replaceChildren();
    this.charts = [];
    for (const { title, match } of CHARTS) {
      const found = columns.map((name, k) => (match.test(name) ? k : -1)).filter((k) => k >= 0).slice(0, INKS.length);
      if (found.length === 0 || this.charts.length >= MOST) continue;
      const figure = document.createElement("figure");
      const caption = document.createElement("figcaption");
      const canvas = document.createElement("canvas");
      canvas.setAttribute("role", "img");
      figure.append(caption, canvas);
      this.place.append(figure);
      this.charts.push({ title, columns: found, canvas, caption });
    }
  }

  /** @param {boolean} restart @param {(number | null)[][]} rows */
  add(restart, rows) {
    this.rows = restart ? rows : this.rows.concat(rows);
    this.draw();
  }

  /** Returns the measured values of a column, with times. @param {number} column @returns {[number, number][]} */
  series(column) {
    const own = this.columns.indexOf("T");
    /** @type {[number, number][]} */ const points = [];
    for (const row of this.rows) {
      const x = own >= 0 ? row[2 + own] : row[1], y = row[2 + column];
      if (typeof x === "number" && typeof y === "number") points.push([x, y]);
    }
    return points;
  }

  draw() {
    for (const chart of this.charts) this.drawOne(chart);
  }

  /** @param {{ title: string, columns: number[], canvas: HTMLCanvasElement, caption: HTMLElement }} chart */
  drawOne({ title, columns, canvas, caption }) {
    const all = columns.map((column) => this.series(column));
    const last = all[0][all[0].length - 1];
    const now = last ? last[0] : 0;
    const first = all[0][0];
    const known = this.references.filter((curve) => columns.some((k) => this.columns[k] === curve.column));
    const curves = known.map((curve) => curve.points.filter(([x]) => x <= now && x >= (first ? first[0] : 0)));
    const values = [...all.flat(), ...curves.flat()].map(([, y]) => y);
    const words = last ? `${title} <b>${short(last[1])}</b>` : title;
    const shown = known.length > 0 ? `${words}, dashed: ${known[0].label}` : words;
    setText(caption, shown);
    canvas.setAttribute("aria-label", caption.textContent ?? title);
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [200, 92];
    if (canvas.width !== width * ratio) [canvas.width, canvas.height] = [width * ratio, height * ratio];
    const pen = canvas.getContext("2d");
    if (!pen) return;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    if (values.length === 0) return;
    let low = Infinity, high = -Infinity;
    for (const value of values) { low = Math.min(low, value); high = Math.max(high, value); }
    const middle = 0.5 * (low + high), least = Math.max(Math.abs(middle) * 1e-6, 1e-300);
    const half = Math.max(0.55 * (high - low), least);
    const x = (/** @type {number} */ t) => 2 + (width - 46) * (first && now > first[0] ? (t - first[0]) / (now - first[0]) : 0);
    const y = (/** @type {number} */ v) => height / 2 - ((v - middle) / half) * (height / 2 - 4);
    const ink = getComputedStyle(document.documentElement).getPropertyValue("--quiet");
    pen.font = "9px system-ui, sans-serif";
    pen.fillStyle = ink;
    pen.fillText(short(high), width - 42, Math.max(9, y(high) + 3));
    pen.fillText(short(low), width - 42, Math.min(height - 2, y(low) + 3));
    const line = (/** @type {[number, number][]} */ points) => {
      pen.beginPath();
      points.forEach(([t, v], k) => (k === 0 ? pen.moveTo(x(t), y(v)) : pen.lineTo(x(t), y(v))));
      pen.stroke();
    };
    pen.lineWidth = 1;
    pen.strokeStyle = ink;
    pen.setLineDash([3, 3]);
    curves.forEach(line);
    pen.setLineDash([]);
    pen.lineWidth = 1.5;
    all.forEach((points, k) => {
      pen.strokeStyle = INKS[k];
      line(points);
    });
  }
}

/** Sets a text with one part in bold. @param {HTMLElement} element @param {string} words */
function setText(element, words) {
  const [before, number, after] = words.split(/<b>|<\/b>/);
  const bold = document.createElement("b");
  bold.textContent = number ?? "";
  element.replaceChildren(before, bold, after ?? "");
}

/** @param {number} value @returns {string} */
export function short(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  return size >= 1e5 || size < 1e-3 ? value.toExponential(2) : String(Number(value.toPrecision(4)));
}

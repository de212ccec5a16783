// The panel: controls for the settings, the numbers, and the colour scale.

import { MAP_NAMES, mapBytes } from "./colours.js";
import { short } from "./charts.js";

/** @typedef {import("./settings.js").Settings} Settings */

/**
 * @template {HTMLElement} [T=HTMLElement]
 * @param {string} id
 * @returns {T}
 */
export function element(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`element ${id} is missing`);
  return /** @type {T} */ (found);
}

/** @param {string} id */
export const input = (id) => /** @type {HTMLInputElement} */ (element(id));
/** @param {string} id */
export const select = (id) => /** @type {HTMLSelectElement} */ (element(id));

const SLIDERS = /** @type {const} */ (["points", "size", "exposure", "depth", "place"]);
const SWITCHES = /** @type {const} */ (["arrows", "glow", "light", "cloud", "slice", "blocks"]);
const CHOICES = /** @type {const} */ (["value", "map", "volume"]);

/**
 * @param {HTMLSelectElement} list
 * @param {string[]} names
 * @param {string} chosen
 */
function fill(list, names, chosen) {
  if (Array.from(list.options, (option) => option.value).join() !== names.join()) {
    list.replaceChildren(...names.map((name) => new Option(name.replace("_", " "), name)));
  }
  list.value = chosen;
}

export class Panel {
  /**
   * @param {Settings} settings
   * @param {() => void} changed
   */
  constructor(settings, changed) {
    this.settings = settings;
    this.changed = changed;
    /** @type {string[]} */ this.values = [];
    /** @type {string[]} */ this.volumes = [];
    fill(select("map"), MAP_NAMES, settings.map);
    for (const name of SLIDERS) input(name).oninput = () => this.set(name, Number(input(name).value));
    for (const name of SWITCHES) input(name).oninput = () => this.set(name, input(name).checked);
    for (const name of CHOICES) select(name).oninput = () => this.set(name, select(name).value);
    select("axis").oninput = () => this.set("axis", Number(select("axis").value));
    this.show();
  }

  /**
   * @param {keyof Settings} name
   * @param {string | number | boolean} value
   */
  set(name, value) {
    /** @type {Record<string, unknown>} */ (/** @type {unknown} */ (this.settings))[name] = value;
    this.show();
    this.changed();
  }

  /**
   * Selects the next option of a list.
   * @param {"value" | "map" | "volume"} name
   */
  next(name) {
    const list = select(name);
    if (list.options.length === 0) return;
    const at = (list.selectedIndex + 1) % list.options.length;
    this.set(name, list.options[at].value);
  }

  /**
   * Sets the options of the lists.
   * @param {string[]} values
   * @param {string[]} volumes
   * @param {boolean} hasParts
   */
  offer(values, volumes, hasParts) {
    this.values = [...(hasParts ? ["part"] : []), "density", ...values, "none"];
    this.volumes = volumes;
    if (!this.values.includes(this.settings.value)) this.settings.value = this.values[0];
    if (volumes.length > 0 && !volumes.includes(this.settings.volume)) this.settings.volume = volumes[0];
    element("grid").hidden = volumes.length === 0;
    this.show();
  }

  /** Updates the controls from the settings. */
  show() {
    const settings = this.settings;
    for (const name of SLIDERS) input(name).value = String(settings[name]);
    for (const name of SWITCHES) input(name).checked = settings[name];
    fill(select("value"), this.values, settings.value);
    fill(select("volume"), this.volumes, settings.volume);
    select("map").value = settings.map;
    select("axis").value = String(settings.axis);
    element("points-shown").textContent = count(2 ** settings.points);
    document.documentElement.classList.toggle("light", settings.light);
    document.body.classList.toggle("bare", settings.bare);
  }

  /**
   * Shows the colour scale, or hides it if `range` is null.
   * @param {string} name
   * @param {[number, number] | null} range
   */
  legend(name, range) {
    element("legend").hidden = range === null;
    if (range === null) return;
    element("scale-low").textContent = short(range[0]);
    element("scale-high").textContent = short(range[1]);
    element("scale-name").textContent = name.replace("_", " ");
    const pen = /** @type {HTMLCanvasElement} */ (element("scale")).getContext("2d");
    const bytes = mapBytes(this.settings.map);
    for (let k = 0; pen && k < 180; k += 1) {
      const at = 4 * Math.round((k / 179) * 255);
      pen.fillStyle = `rgb(${bytes[at]} ${bytes[at + 1]} ${bytes[at + 2]})`;
      pen.fillRect(k, 0, 1, 10);
    }
  }

  /** @param {[string, string][]} figures names and values */
  figures(figures) {
    const rows = figures.map(([name, value]) => {
      const row = document.createElement("tr");
      row.append(cell(name), cell(value));
      return row;
    });
    element("figures").replaceChildren(...rows);
  }
}

/** @param {string} text */
function cell(text) {
  const made = document.createElement("td");
  made.textContent = text;
  return made;
}

/** Formats 1234567 as "1.23 M". @param {number} number @returns {string} */
export function count(number) {
  if (number >= 1e6) return `${(number / 1e6).toPrecision(3)} M`;
  return number >= 1e4 ? `${Math.round(number / 1e3)} k` : String(Math.round(number));
}

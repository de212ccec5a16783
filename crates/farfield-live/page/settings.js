// What a viewer can set, with defaults; camera and settings live in the address, so that a link shows the same.

/**
 * @typedef {object} Settings
 * @property {string} value what colours points: "part", "density", "none", or a value of the run
 * @property {string} map the name of a colour map
 * @property {number} points the most points, as a power of two
 * @property {number} size of a point, in pixels of the page
 * @property {number} exposure in stops
 * @property {number} depth how much nearer points are brighter, 0 to 1
 * @property {boolean} arrows
 * @property {boolean} glow
 * @property {boolean} light
 * @property {string} volume the number shown on a grid
 * @property {boolean} cloud whether it is shown as a volume
 * @property {boolean} slice
 * @property {number} axis the slice is across x, y, z or (3) the line of sight
 * @property {number} place of the slice, 0 to 1
 * @property {boolean} blocks
 * @property {boolean} bare without panels
 */

/** @type {Settings} */
export const DEFAULTS = {
  value: "part", map: "inferno", points: 20, size: 1.6, exposure: 0, depth: 0.4, arrows: false, glow: false, light: false,
  volume: "vorticity", cloud: true, slice: false, axis: 2, place: 0.5, blocks: false, bare: false,
};

/**
 * Settings out of a fragment such as `#map=viridis&size=2`; what is missing or wrong stays as it is.
 * @param {string} fragment
 * @param {Settings} into
 */
export function readSettings(fragment, into) {
  const given = new URLSearchParams(fragment.replace(/^#/, ""));
  const target = /** @type {Record<string, string | number | boolean>} */ (/** @type {unknown} */ (into));
  for (const [key, standard] of Object.entries(DEFAULTS)) {
    const text = given.get(key);
    if (text === null) continue;
    if (typeof standard === "number") {
      const number = Number(text);
      if (Number.isFinite(number)) target[key] = number;
    } else if (typeof standard === "boolean") {
      target[key] = text === "1";
    } else if (/^[\w.-]{0,64}$/.test(text)) {
      target[key] = text;
    }
  }
}

/**
 * What differs from the defaults, and the camera, as a fragment.
 * @param {Settings} settings
 * @param {string} camera
 * @returns {string}
 */
export function writeFragment(settings, camera) {
  const parts = [];
  for (const [key, standard] of Object.entries(DEFAULTS)) {
    const value = /** @type {Record<string, unknown>} */ (/** @type {unknown} */ (settings))[key];
    if (value !== standard) parts.push(`${key}=${value === true ? 1 : value === false ? 0 : value}`);
  }
  if (camera) parts.push(`camera=${camera}`);
  return `#${parts.join("&")}`;
}

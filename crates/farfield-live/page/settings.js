// The viewer's settings, with defaults. Camera and settings are stored in the address, so that a link shows the same view.

/**
 * @typedef {object} Settings
 * @property {string} value the colouring of points: "part", "density", "none", or a value of the run
 * @property {string} map the name of a colour map
 * @property {number} points log2 of the most points
 * @property {number} size the size of a point in CSS pixels
 * @property {number} exposure in stops
 * @property {number} depth strength of the depth cue (nearer points are brighter), 0 to 1
 * @property {boolean} arrows
 * @property {boolean} glow
 * @property {boolean} light
 * @property {string} volume the name of the field shown on a grid
 * @property {boolean} cloud whether the field is shown as a volume
 * @property {boolean} slice
 * @property {number} axis the normal of the slice: x, y, z (0, 1, 2) or the line of sight (3)
 * @property {number} place position of the slice along its normal, 0 to 1
 * @property {boolean} blocks
 * @property {boolean} bare without panels
 */

/** @type {Settings} */
export const DEFAULTS = {
  value: "part", map: "inferno", points: 20, size: 1.6, exposure: 0, depth: 0.4, arrows: false, glow: false, light: false,
  volume: "vorticity", cloud: true, slice: false, axis: 2, place: 0.5, blocks: false, bare: false,
};

/**
 * Reads settings from a fragment such as `#map=viridis&size=2`. Missing or invalid settings are left unchanged.
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
 * Returns a fragment with the camera and the settings that differ from the defaults.
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

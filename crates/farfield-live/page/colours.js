// Colour maps, each interpolated between a few anchors; the perceptual maps are from matplotlib (CC0).

/** @typedef {[number, number, number]} Rgb components from 0 to 1 */

/** @type {Record<string, string>} */
const ANCHORS = {
  inferno: "000004 160b39 420a68 6a176e 932667 bc3754 dd513a f37819 fca50a f6d746 fcffa4",
  viridis: "440154 482475 414487 355f8d 2a788e 21918c 22a884 44bf70 7ad151 bddf26 fde725",
  magma: "000004 140e36 3b0f70 641a80 8c2981 b73779 de4968 f7705c fe9f6d fecf92 fcfdbf",
  cividis: "00224e 123570 3b496c 575d6d 707173 8a8678 a59c74 c3b369 e1cc55 fee838",
  diverging: "2b5bb0 5c8fd0 9dc0e6 d9e6f0 f4f1ee f3d9c6 e7a583 cc6350 9e2237",
  grey: "101010 ffffff",
};

/** Colours of the parts (rings, knots, galaxies). They are darkened on a light background. */
const PARTS = ["ff8a3c", "3fb8ff", "b9f06a", "e96bff", "ffd84a", "4cffc8"];

export const MAP_NAMES = Object.keys(ANCHORS);

/** @param {string} hex @returns {Rgb} */
function rgb(hex) {
  const part = (/** @type {number} */ k) => parseInt(hex.slice(k, k + 2), 16) / 255;
  return [part(0), part(2), part(4)];
}

/**
 * Returns a map as 256 colours of 4 bytes.
 * @param {string} name
 * @returns {Uint8Array}
 */
export function mapBytes(name) {
  const anchors = (ANCHORS[name] ?? ANCHORS.inferno).split(" ").map(rgb);
  const bytes = new Uint8Array(4 * 256);
  for (let k = 0; k < 256; k += 1) {
    const at = (k / 255) * (anchors.length - 1);
    const below = Math.min(Math.floor(at), anchors.length - 2);
    for (let c = 0; c < 3; c += 1) {
      const mixed = anchors[below][c] + (at - below) * (anchors[below + 1][c] - anchors[below][c]);
      bytes[4 * k + c] = Math.round(255 * mixed);
    }
    bytes[4 * k + 3] = 255;
  }
  return bytes;
}

/**
 * Returns the colours of the parts by number, as 256 colours of 4 bytes.
 * @param {boolean} light
 * @returns {Uint8Array}
 */
export function partBytes(light) {
  const bytes = new Uint8Array(4 * 256);
  for (let k = 0; k < 256; k += 1) {
    const colour = rgb(PARTS[k % PARTS.length]);
    for (let c = 0; c < 3; c += 1) bytes[4 * k + c] = Math.round(255 * (light ? 0.6 * colour[c] : colour[c]));
    bytes[4 * k + 3] = 255;
  }
  return bytes;
}

// The format of frames; crates/farfield-live/src/frame.rs describes the layout.

/** @typedef {import("./camera.js").Vec3} Vec3 */

/**
 * @typedef {object} Part points of one cloud
 * @property {string} name
 * @property {string} value the name of the value that colours them
 * @property {number} count number of points in the frame
 * @property {number} total number of points of the cloud
 * @property {Vec3} low lower corner of their box
 * @property {Vec3} high upper corner of their box
 * @property {[number, number]} range of the values
 * @property {number} longest length of the longest direction
 * @property {number} record bytes per record
 * @property {Uint8Array} records
 */

/**
 * @typedef {object} Volume a scalar field on a regular grid
 * @property {string} name
 * @property {Vec3} origin
 * @property {number} spacing
 * @property {Vec3} size
 * @property {[number, number]} range
 * @property {Float32Array} blocks corner, side and level of each block
 * @property {Uint8Array} values
 * @property {Uint8Array | null} inside
 */

/**
 * @typedef {object} Frame
 * @property {number} frame number of the frame
 * @property {number} step
 * @property {number} time
 * @property {Part[]} parts
 * @property {Volume[]} volumes
 * @property {number} bytes
 */

const MAGIC = 0x314c4646; // "FFL1"

/**
 * Parses a message without copying data.
 * @param {ArrayBuffer} buffer
 * @returns {Frame}
 */
export function readFrame(buffer) {
  const view = new DataView(buffer);
  if (buffer.byteLength < 8 || view.getUint32(0, true) !== MAGIC) throw new Error("the message is not a frame");
  const length = view.getUint32(4, true);
  const frame = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
  let at = 8 + length;
  const take = (/** @type {number} */ bytes) => {
    const piece = new Uint8Array(buffer, at, bytes);
    at += bytes;
    return piece;
  };
  for (const part of frame.parts) part.records = take(part.count * part.record);
  for (const volume of frame.volumes) {
    const points = volume.size[0] * volume.size[1] * volume.size[2];
    const blocks = take(volume.blocks * 20);
    volume.blocks = new Float32Array(blocks.buffer, blocks.byteOffset, blocks.length / 4);
    volume.values = take(points);
    volume.inside = volume.inside ? take(points) : null;
  }
  frame.bytes = buffer.byteLength;
  return frame;
}

/**
 * Returns the bounding box of a frame's contents.
 * @param {Frame} frame
 * @returns {[Vec3, Vec3] | null}
 */
export function boxOf(frame) {
  const part = frame.parts.find((candidate) => candidate.count > 0);
  if (part) return [part.low, part.high];
  const volume = frame.volumes[0];
  if (!volume) return null;
  const corner = (/** @type {number} */ k) => volume.origin[k] + (volume.size[k] - 1) * volume.spacing;
  return [volume.origin, [corner(0), corner(1), corner(2)]];
}

/**
 * Returns the centre and half extent of most points, without the outermost 2 % on each side.
 * @param {Part} part
 * @returns {{ centre: Vec3, half: Vec3 }}
 */
export function middleOf(part) {
  const stride = Math.max(1, Math.floor(part.count / 2000));
  const words = new Uint16Array(part.records.buffer, part.records.byteOffset, part.records.byteLength / 2);
  /** @type {number[][]} */
  const along = [[], [], []];
  for (let k = 0; k < part.count; k += stride) {
    for (let axis = 0; axis < 3; axis += 1) along[axis].push(words[(k * part.record) / 2 + axis]);
  }
  /** @type {Vec3} */ const centre = [0, 0, 0];
  /** @type {Vec3} */ const half = [0, 0, 0];
  for (let axis = 0; axis < 3; axis += 1) {
    along[axis].sort((a, b) => a - b);
    const at = (/** @type {number} */ share) => along[axis][Math.floor(share * (along[axis].length - 1))] / 65535;
    const [low, high] = [at(0.02), at(0.98)];
    const extent = part.high[axis] - part.low[axis];
    centre[axis] = part.low[axis] + (extent * (low + high)) / 2;
    half[axis] = (extent * (high - low)) / 2;
  }
  return { centre, half };
}

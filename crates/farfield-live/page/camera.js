// A camera that orbits a centre. Its attitude is a quaternion, so that there is no gimbal lock.

/** @typedef {[number, number, number]} Vec3 */
/** @typedef {[number, number, number, number]} Quaternion x, y, z, w */

/** @param {(k: number) => number} component @returns {Vec3} */
const vector = (component) => [component(0), component(1), component(2)];

const FIELD_OF_VIEW = (35 * Math.PI) / 180;

/**
 * @param {Quaternion} a
 * @param {Quaternion} b
 * @returns {Quaternion}
 */
export function multiply(a, b) {
  const [ax, ay, az, aw] = a, [bx, by, bz, bw] = b;
  return [
    aw * bx + ax * bw + ay * bz - az * by,
    aw * by - ax * bz + ay * bw + az * bx,
    aw * bz + ax * by - ay * bx + az * bw,
    aw * bw - ax * bx - ay * by - az * bz,
  ];
}

/**
 * @param {Vec3} axis a unit vector
 * @param {number} angle
 * @returns {Quaternion}
 */
export function turn(axis, angle) {
  const s = Math.sin(angle / 2);
  return [axis[0] * s, axis[1] * s, axis[2] * s, Math.cos(angle / 2)];
}

/**
 * Returns the rows of the rotation: the directions right, up and back of the camera.
 * @param {Quaternion} q
 * @returns {[Vec3, Vec3, Vec3]}
 */
export function axes([x, y, z, w]) {
  return [
    [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
    [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
    [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
  ];
}

export class Camera {
  constructor() {
    /** @type {Quaternion} */ this.attitude = [0, 0, 0, 1];
    /** @type {Vec3} */ this.centre = [0, 0, 0];
    /** Half the visible height at the distance of the centre. */
    this.reach = 1;
    /** Whether the user has moved the camera; then it does not adjust its framing to the points. */
    this.moved = false;
    /** Whether the centre follows the points. */
    this.follows = true;
    this.preset("oblique");
  }

  /** Returns the directions right, up and back of the camera. */
  axes() { return axes(this.attitude); }

  get distance() { return this.reach / Math.tan(FIELD_OF_VIEW / 2); }

  /**
   * @param {"oblique" | "side" | "axis" | "front"} name
   * @param {boolean} [upright] whether z points up; otherwise it points right, the direction in which vortices travel
   */
  preset(name, upright = false) {
    /** @type {Record<string, Quaternion>} */
    const flat = {
      side: multiply(turn([0, 1, 0], Math.PI / 2), [0, 0, 0, 1]),
      axis: [0, 0, 0, 1],
      front: turn([1, 0, 0], -Math.PI / 2),
      oblique: multiply(turn([1, 0, 0], 0.45), turn([0, 1, 0], Math.PI / 2 - 0.6)),
    };
    /** @type {Record<string, Quaternion>} */
    const standing = {
      side: turn([1, 0, 0], -Math.PI / 2),
      axis: [0, 0, 0, 1],
      front: multiply(turn([1, 0, 0], -Math.PI / 2), turn([0, 0, 1], Math.PI / 2)),
      oblique: multiply(turn([1, 0, 0], -1.0), turn([0, 0, 1], 0.6)),
    };
    this.attitude = (upright ? standing : flat)[name];
  }

  /**
   * Centres the camera on a box and shows all of it.
   * @param {Vec3} low
   * @param {Vec3} high
   */
  frame(low, high) {
    this.centre = vector((k) => (low[k] + high[k]) / 2);
    this.reach = Math.max(0.5 * Math.hypot(high[0] - low[0], high[1] - low[1], high[2] - low[2]), 1e-12);
  }

  /** @param {number} dx @param {number} dy in radians */
  orbit(dx, dy) {
    this.attitude = multiply(multiply(turn([1, 0, 0], dy), turn([0, 1, 0], dx)), this.attitude);
    const length = Math.hypot(...this.attitude);
    this.attitude = /** @type {Quaternion} */ (this.attitude.map((c) => c / length));
    this.moved = true;
  }

  /** @param {number} angle about the line of sight */
  roll(angle) {
    this.attitude = multiply(turn([0, 0, 1], angle), this.attitude);
    this.moved = true;
  }

  /** @param {number} dx @param {number} dy in units of the height of the picture */
  pan(dx, dy) {
    const [right, up] = axes(this.attitude);
    const step = 2 * this.reach;
    this.centre = vector((k) => this.centre[k] - step * (dx * right[k] + dy * up[k]));
    this.moved = true;
    this.follows = false;
  }

  /** @param {number} factor above 1 to zoom in */
  zoom(factor) {
    this.reach = Math.min(Math.max(this.reach / factor, 1e-9), 1e12);
    this.moved = true;
  }

  /**
   * Returns the matrix from positions to clip space, column by column.
   * @param {number} aspect width over height
   * @returns {Float32Array}
   */
  matrix(aspect) {
    const [right, up, back] = axes(this.attitude);
    const f = 1 / Math.tan(FIELD_OF_VIEW / 2);
    const d = this.distance, near = d * 0.01, far = d * 100;
    const rows = [right.map((c) => (f / aspect) * c), up.map((c) => f * c), back, back];
    const dot = (/** @type {number[]} */ row) => row[0] * this.centre[0] + row[1] * this.centre[1] + row[2] * this.centre[2];
    // Depth and w come from the coordinate of a position along `back`: z_eye = back . (x - centre) - d.
    const a = (far + near) / (near - far), b = (2 * far * near) / (near - far);
    const shiftZ = -dot(back) - d;
    const m = new Float32Array(16);
    for (let column = 0; column < 3; column += 1) {
      m[4 * column] = rows[0][column];
      m[4 * column + 1] = rows[1][column];
      m[4 * column + 2] = a * back[column];
      m[4 * column + 3] = -back[column];
    }
    m[12] = -dot(rows[0]);
    m[13] = -dot(rows[1]);
    m[14] = a * shiftZ + b;
    m[15] = -shiftZ;
    return m;
  }

  /** Returns the position of the camera. @returns {Vec3} */
  eye() {
    const back = axes(this.attitude)[2];
    return vector((k) => this.centre[k] + this.distance * back[k]);
  }

  /**
   * Returns the position under a point of the picture, in the plane through the centre that faces the camera.
   * @param {number} x from -1 to 1, right
   * @param {number} y from -1 to 1, up
   * @param {number} aspect
   * @returns {Vec3}
   */
  place(x, y, aspect) {
    const [right, up] = axes(this.attitude);
    return vector((k) => this.centre[k] + this.reach * (x * aspect * right[k] + y * up[k]));
  }

  /** Returns the camera as text for the address; empty if the user has not moved it. @returns {string} */
  toText() {
    if (!this.moved) return "";
    const centre = this.follows ? [] : this.centre;
    return [...this.attitude, this.reach, ...centre].map((n) => Number(n.toPrecision(6))).join(",");
  }

  /** Sets the camera from the text in an address. @param {string} text @returns {boolean} whether it was valid */
  fromText(text) {
    const numbers = text.split(",").map(Number);
    if ((numbers.length !== 5 && numbers.length !== 8) || !numbers.every(Number.isFinite) || numbers[4] <= 0) return false;
    const length = Math.hypot(...numbers.slice(0, 4));
    if (length < 1e-6) return false;
    this.attitude = /** @type {Quaternion} */ (numbers.slice(0, 4).map((c) => c / length));
    this.reach = numbers[4];
    this.follows = numbers.length === 5;
    if (!this.follows) this.centre = /** @type {Vec3} */ (numbers.slice(5));
    this.moved = true;
    return true;
  }
}

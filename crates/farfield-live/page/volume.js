// A field on a grid: volume rendering, a slice through any plane, the outlines of blocks, the bodies.

import { Program, Target, EVERYWHERE, bind, plain } from "./gpu.js";

/** @typedef {import("./frame.js").Volume} Volume */
/** @typedef {import("./camera.js").Camera} Camera */
/** @typedef {import("./settings.js").Settings} Settings */

/** If a drawing takes longer than this, in milliseconds, the next one has fewer pixels. */
const SLOW = 60;

const MARCH_FRAGMENT = `
uniform sampler3D values, inside;
uniform sampler2D map;
uniform vec3 eye, right, up, back, low, high, normal;
uniform vec2 spread;
uniform float strength, cloud, slice, at, bodies, zero, light, gamma, steps;
in vec2 place;
out vec4 shown;

vec3 within(vec3 x) { return (x - low) / (high - low); }

// The value at x, from 0 to 1 over the range of the field.
float number(vec3 x) { return texture(values, within(x)).r; }

void main() {
  vec2 at2 = (2.0 * place - 1.0) * spread;
  vec3 ray = normalize(at2.x * right + at2.y * up - back);
  vec3 a = (low - eye) / ray, b = (high - eye) / ray;
  vec3 nearest = min(a, b), farthest = max(a, b);
  float begin = max(max(max(nearest.x, nearest.y), nearest.z), 0.0);
  float end = min(min(farthest.x, farthest.y), farthest.z);
  shown = vec4(0.0);
  if (end <= begin) return;
  // The distance at which the ray meets the slice.
  float meets = slice > 0.5 ? (at - dot(normal, eye)) / dot(normal, ray) : -1.0;
  if (meets < begin || meets > end) meets = -1.0;
  float step = (end - begin) / steps;
  // An offset that differs from pixel to pixel replaces banding by noise.
  float offset = fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715))));
  float clear = 1.0;
  vec3 sum = vec3(0.0);
  for (float k = 0.0; k < steps; k += 1.0) {
    float t = begin + (k + offset) * step;
    if (meets >= 0.0 && t >= meets) {
      vec3 hue = texture(map, vec2(number(eye + meets * ray), 0.5)).rgb;
      sum += clear * 0.96 * hue;
      clear *= 0.04;
      meets = -1.0;
    }
    vec3 x = eye + t * ray;
    if (bodies > 0.5 && texture(inside, within(x)).r > 0.5) {
      vec3 h = 0.01 * (high - low);
      vec3 slope = vec3(
        texture(inside, within(x + vec3(h.x, 0, 0))).r - texture(inside, within(x - vec3(h.x, 0, 0))).r,
        texture(inside, within(x + vec3(0, h.y, 0))).r - texture(inside, within(x - vec3(0, h.y, 0))).r,
        texture(inside, within(x + vec3(0, 0, h.z))).r - texture(inside, within(x - vec3(0, 0, h.z))).r);
      float facing = abs(dot(normalize(slope + 1e-6), ray));
      sum += clear * vec3(0.25 + 0.5 * facing);
      clear = 0.0;
      break;
    }
    if (cloud > 0.5) {
      float value = number(x);
      float size = zero > 0.0 ? abs(value - zero) / max(zero, 1.0 - zero) : value;
      float thick = strength * pow(size, gamma) * step;
      float opacity = 1.0 - exp(-thick);
      vec3 hue = texture(map, vec2(zero > 0.0 ? value : min(1.0, 1.6 * value), 0.5)).rgb;
      sum += clear * opacity * hue;
      clear *= 1.0 - opacity;
      if (clear < 0.01) break;
    }
  }
  if (meets >= 0.0) {
    sum += clear * 0.96 * texture(map, vec2(number(eye + meets * ray), 0.5)).rgb;
    clear *= 0.04;
  }
  shown = vec4(sum, 1.0 - clear);
}`;

const COPY_FRAGMENT = `
uniform sampler2D image;
in vec2 place;
out vec4 shown;
void main() { shown = texture(image, place); }`;

const BLOCK_VERTEX = `
in vec3 corner;
in float side;
in float level;
uniform mat4 matrix;
uniform float finest;
uniform sampler2D map;
out vec4 colour;
const int ENDS[24] = int[24](0,1, 2,3, 4,5, 6,7, 0,2, 1,3, 4,6, 5,7, 0,4, 1,5, 2,6, 3,7);
void main() {
  int end = ENDS[gl_VertexID % 24];
  vec3 at = corner + side * vec3(end & 1, (end >> 1) & 1, (end >> 2) & 1);
  gl_Position = matrix * vec4(at, 1.0);
  float share = finest > 0.0 ? level / finest : 1.0;
  colour = vec4(texture(map, vec2(0.4 + 0.55 * share, 0.5)).rgb, mix(0.22, 0.35, share));
}`;

const BLOCK_FRAGMENT = `
in vec4 colour;
out vec4 shown;
void main() { shown = colour; }`;

export class VolumePicture {
  /** @param {WebGL2RenderingContext} gl */
  constructor(gl) {
    this.gl = gl;
    this.marching = new Program(gl, EVERYWHERE, MARCH_FRAGMENT);
    this.copying = new Program(gl, EVERYWHERE, COPY_FRAGMENT);
    this.outlining = new Program(gl, BLOCK_VERTEX, BLOCK_FRAGMENT, ["corner", "side", "level"]);
    this.small = new Target(gl, gl.RGBA8, true);
    this.empty = gl.createVertexArray();
    /** @type {Volume | null} */ this.volume = null;
    /** @type {WebGLTexture | null} */ this.values = null;
    /** @type {WebGLTexture | null} */ this.inside = null;
    this.blocks = gl.createBuffer();
    this.layout = gl.createVertexArray();
    gl.bindVertexArray(this.layout);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.blocks);
    for (const [place, count, offset] of [[0, 3, 0], [1, 1, 12], [2, 1, 16]]) {
      gl.enableVertexAttribArray(place);
      gl.vertexAttribPointer(place, count, gl.FLOAT, false, 20, offset);
      gl.vertexAttribDivisor(place, 1);
    }
    gl.bindVertexArray(null);
    /** Pixels of the screen per pixel of the volume rendering, along each axis. */
    this.coarseness = 1;
  }

  /** @param {Volume | null} volume */
  take(volume) {
    this.volume = volume;
    if (!volume) return;
    this.values = this.upload(this.values, volume, volume.values);
    this.inside = volume.inside ? this.upload(this.inside, volume, volume.inside) : this.inside;
    this.gl.bindBuffer(this.gl.ARRAY_BUFFER, this.blocks);
    this.gl.bufferData(this.gl.ARRAY_BUFFER, volume.blocks, this.gl.STREAM_DRAW);
  }

  /**
   * @param {WebGLTexture | null} texture
   * @param {Volume} volume
   * @param {Uint8Array} bytes
   */
  upload(texture, volume, bytes) {
    const gl = this.gl;
    const made = texture ?? gl.createTexture();
    bind(gl, 0, made, gl.TEXTURE_3D);
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    const [x, y, z] = volume.size;
    gl.texImage3D(gl.TEXTURE_3D, 0, gl.R8, x, y, z, 0, gl.RED, gl.UNSIGNED_BYTE, bytes);
    plain(gl, gl.TEXTURE_3D, gl.LINEAR);
    return made;
  }

  /**
   * Draws over the picture. Returns whether another drawing is needed, which is never.
   * @param {Camera} camera
   * @param {Settings} settings
   * @param {WebGLTexture | null} map
   * @param {[number, number]} size
   * @param {Float32Array} matrix
   * @returns {boolean}
   */
  draw(camera, settings, map, size, matrix) {
    const volume = this.volume, gl = this.gl;
    if (!volume) return false;
    const low = volume.origin.map((c) => c - 0.5 * volume.spacing);
    const high = low.map((c, k) => c + volume.size[k] * volume.spacing);
    const hasBodies = volume.inside !== null;
    if (settings.cloud || settings.slice || hasBodies) this.march(camera, settings, map, size, { volume, low, high, hasBodies });
    if (settings.blocks && volume.blocks.length > 0) {
      gl.enable(gl.BLEND);
      gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
      bind(gl, 0, map);
      let finest = 0;
      for (let k = 4; k < volume.blocks.length; k += 5) finest = Math.max(finest, volume.blocks[k]);
      this.outlining.use({ matrix, finest, map: { unit: 0 } });
      gl.bindVertexArray(this.layout);
      gl.drawArraysInstanced(gl.LINES, 0, 24, volume.blocks.length / 5);
    }
    return false;
  }

  /**
   * @param {Camera} camera
   * @param {Settings} settings
   * @param {WebGLTexture | null} map
   * @param {[number, number]} size
   * @param {{ volume: Volume, low: number[], high: number[], hasBodies: boolean }} what
   */
  march(camera, settings, map, size, { volume, low, high, hasBodies }) {
    const gl = this.gl, begin = performance.now();
    const rows = cameraRows(camera);
    const normal = settings.axis < 3 ? [0, 1, 2].map((k) => (k === settings.axis ? 1 : 0)) : rows.back;
    const corner = (/** @type {number} */ sign) => [0, 1, 2].reduce((sum, k) => sum + normal[k] * (normal[k] * sign > 0 ? high[k] : low[k]), 0);
    const at = corner(-1) + settings.place * (corner(1) - corner(-1));
    const spread = camera.reach / camera.distance;
    const extent = Math.hypot(high[0] - low[0], high[1] - low[1], high[2] - low[2]);
    const span = volume.range[1] - volume.range[0];
    this.small.resize(Math.ceil(size[0] / this.coarseness), Math.ceil(size[1] / this.coarseness));
    this.small.begin();
    gl.disable(gl.BLEND);
    gl.bindVertexArray(this.empty);
    bind(gl, 0, this.values, gl.TEXTURE_3D);
    bind(gl, 1, hasBodies ? this.inside : this.values, gl.TEXTURE_3D);
    bind(gl, 2, map);
    this.marching.use({
      values: { unit: 0 }, inside: { unit: 1 }, map: { unit: 2 }, eye: camera.eye(), ...rows, low, high, normal, at,
      spread: [(spread * size[0]) / size[1], spread], cloud: settings.cloud ? 1 : 0, slice: settings.slice ? 1 : 0,
      bodies: hasBodies ? 1 : 0, zero: volume.range[0] < 0 && span > 0 ? -volume.range[0] / span : 0,
      light: settings.light ? 1 : 0, strength: (60 * 2 ** settings.exposure) / extent, gamma: 1.3,
      steps: this.coarseness > 2 ? 96 : 192,
    });
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(0, 0, size[0], size[1]);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    bind(gl, 0, this.small.texture);
    this.copying.use({ image: { unit: 0 } });
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    // Reading a pixel waits until the GPU is done, so that the time can be measured.
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
    const took = performance.now() - begin;
    if (took > SLOW && this.coarseness < 4) this.coarseness *= 2;
    else if (took < SLOW / 8 && this.coarseness > 1) this.coarseness /= 2;
  }
}

/** @param {Camera} camera */
function cameraRows(camera) {
  const [right, up, back] = camera.axes();
  return { right, up, back };
}

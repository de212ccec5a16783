// The picture: points are summed in a float texture. The sum in each pixel, the density of points along its ray, is mapped
// to brightness (Hu, Gumerov and Duraiswami, section 3.2) with automatic exposure.

import { Program, Target, EVERYWHERE, bind, plain } from "./gpu.js";
import { mapBytes, partBytes } from "./colours.js";
import { VolumePicture } from "./volume.js";

/** @typedef {import("./frame.js").Frame} Frame */
/** @typedef {import("./frame.js").Part} Part */
/** @typedef {import("./camera.js").Camera} Camera */
/** @typedef {import("./settings.js").Settings} Settings */

/** Sources of colour: none, the part, the value, the density. */
const SOURCES = { none: 0, part: 1, value: 2, density: 3 };
/** The optical depth of a pixel whose density is the mean over all pixels that are not empty. */
const DEPTH_OF_MEAN = 0.9;
/** The number of cells along each side of the grid on which exposure is measured. */
const METER = 48;
/** Milliseconds between measurements, because each waits for the GPU. */
const METER_PAUSE = 120;

const POINT_VERTEX = `
in vec3 position;
in float value;
in float part;
uniform mat4 matrix;
uniform vec3 low, extent;
uniform float size, distance, depth, source;
uniform sampler2D map, parts;
out vec4 colour;
out float sharpness;
void main() {
  gl_Position = matrix * vec4(low + extent * position, 1.0);
  float nearer = distance / max(gl_Position.w, 1e-30);
  float wide = clamp(size * mix(1.0, nearer, depth), 1.0, 64.0);
  gl_PointSize = wide;
  vec3 hue = source == 2.0 ? texture(map, vec2(value, 0.5)).rgb
           : source == 1.0 ? texture(parts, vec2((part * 255.0 + 0.5) / 256.0, 0.5)).rgb
           : vec3(1.0);
  // The sum over a splat does not depend on its size; small splats are flat.
  sharpness = wide > 1.5 ? 3.0 : 0.0;
  float area = wide > 1.5 ? wide * wide * 0.25435 : wide * wide;
  float weight = mix(1.0, clamp(nearer * nearer, 0.2, 3.0), depth) / area;
  colour = vec4(hue, 1.0) * weight;
}`;

const POINT_FRAGMENT = `
in vec4 colour;
in float sharpness;
out vec4 sum;
void main() {
  vec2 r = 2.0 * gl_PointCoord - 1.0;
  sum = colour * exp(-sharpness * dot(r, r));
}`;

const METER_FRAGMENT = `
uniform sampler2D sums;
in vec2 place;
out vec4 found;
void main() {
  ivec2 size = textureSize(sums, 0);
  ivec2 cell = ivec2(gl_FragCoord.xy);
  ivec2 from = cell * size / ${METER}, to = (cell + 1) * size / ${METER};
  // Every pixel of a small picture, evenly spaced pixels of a large one.
  ivec2 stride = max(ivec2(1), (to - from) / 12);
  float sum = 0.0, count = 0.0;
  for (int y = from.y; y < to.y; y += stride.y)
    for (int x = from.x; x < to.x; x += stride.x) {
      float density = texelFetch(sums, ivec2(x, y), 0).a;
      if (density > 0.0) { sum += density; count += 1.0; }
    }
  found = vec4(sum, count, 0.0, 1.0);
}`;

const DEVELOP_FRAGMENT = `
uniform sampler2D sums, halo, map;
uniform float exposure, light, source, glow;
uniform vec3 paper;
in vec2 place;
out vec4 shown;
void main() {
  vec4 here = texture(sums, place);
  if (glow > 0.0) here += glow * texture(halo, place);
  float depth = here.a * exposure;
  float opacity = 1.0 - exp(-depth);
  vec3 hue = here.a > 0.0 ? here.rgb / here.a : vec3(0.0);
  if (source == 3.0) hue = texture(map, vec2(clamp(log2(1.0 + depth) / 4.0, 0.0, 1.0), 0.5)).rgb;
  if (light > 0.5) {
    vec3 ink = source == 0.0 ? vec3(0.05, 0.05, 0.1) : hue;
    // Ink is darker where many points overlap.
    shown = vec4(mix(paper, ink * (1.0 - 0.4 * (1.0 - exp(-0.15 * depth))), opacity), 1.0);
  } else {
    // Light is whiter where many points overlap.
    vec3 bright = mix(hue, vec3(1.0), 0.6 * (1.0 - exp(-0.12 * depth)));
    shown = vec4(paper + bright * opacity, 1.0);
  }
}`;

const BLUR_FRAGMENT = `
uniform sampler2D image;
uniform vec2 step;
in vec2 place;
out vec4 blurred;
void main() {
  vec4 sum = vec4(0.0);
  float weights = 0.0;
  for (int k = -9; k <= 9; k++) {
    float weight = exp(-float(k * k) / 28.0);
    sum += weight * texture(image, place + float(k) * step);
    weights += weight;
  }
  blurred = sum / weights;
}`;

const ARROW_VERTEX = `
in vec3 position;
in float value;
in float part;
in vec3 direction;
uniform mat4 matrix;
uniform vec3 low, extent;
uniform float span, source, aspect, light;
uniform sampler2D map, parts;
out vec4 colour;
void main() {
  vec3 base = low + extent * position, tip = base + span * direction;
  vec4 a = matrix * vec4(base - 0.5 * span * direction, 1.0), b = matrix * vec4(tip - 0.5 * span * direction, 1.0);
  vec2 along = (b.xy / b.w - a.xy / a.w) * vec2(aspect, 1.0);
  vec2 across = vec2(-along.y, along.x);
  // The six ends of three lines: the shaft and the two sides of the head.
  int k = gl_VertexID % 6;
  vec4 at = k == 0 ? a : b;
  if (k == 3) at.xy += b.w * (-0.3 * along + 0.15 * across) / vec2(aspect, 1.0);
  if (k == 5) at.xy += b.w * (-0.3 * along - 0.15 * across) / vec2(aspect, 1.0);
  gl_Position = at;
  vec3 hue = source == 2.0 ? texture(map, vec2(value, 0.5)).rgb
           : source == 1.0 ? texture(parts, vec2((part * 255.0 + 0.5) / 256.0, 0.5)).rgb
           : vec3(light > 0.5 ? 0.1 : 0.9);
  colour = vec4(hue, 0.85);
}`;

const ARROW_FRAGMENT = `
in vec4 colour;
out vec4 shown;
void main() { shown = colour; }`;

export class Picture {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    const gl = canvas.getContext("webgl2", { alpha: false, antialias: false, preserveDrawingBuffer: false });
    if (!gl) throw new Error("this browser does not support WebGL2");
    this.gl = gl;
    if (!gl.getExtension("EXT_color_buffer_float")) throw new Error("this browser cannot draw into float textures");
    // Without blending of 32-bit floats, use 16-bit floats; a pixel then counts only a few thousand points exactly.
    const format = gl.getExtension("EXT_float_blend") ? gl.RGBA32F : gl.RGBA16F;
    this.sums = new Target(gl, format, false);
    this.meter = new Target(gl, gl.RGBA32F, false);
    this.halos = [new Target(gl, gl.RGBA16F, true), new Target(gl, gl.RGBA16F, true)];
    const point = ["position", "value", "part", "direction"];
    this.points = new Program(gl, POINT_VERTEX, POINT_FRAGMENT, point);
    this.arrows = new Program(gl, ARROW_VERTEX, ARROW_FRAGMENT, point);
    this.metering = new Program(gl, EVERYWHERE, METER_FRAGMENT);
    this.developing = new Program(gl, EVERYWHERE, DEVELOP_FRAGMENT);
    this.blurring = new Program(gl, EVERYWHERE, BLUR_FRAGMENT);
    this.volume = new VolumePicture(gl);
    this.empty = gl.createVertexArray();
    /** @type {{ part: Part, buffer: WebGLBuffer | null, points: WebGLVertexArrayObject | null, arrows: WebGLVertexArrayObject | null }[]} */
    this.clouds = [];
    this.map = this.colours();
    this.parts = this.colours();
    this.exposure = 0;
    this.settled = true;
    this.metered = -Infinity;
    /** Seconds that the last drawing took on the GPU. */
    this.seconds = 0;
    /** When the last drawing began, and the fence that is signalled when it is done. */
    this.begun = 0;
    /** @type {WebGLSync | null} */ this.fence = null;
    this.mapName = "";
  }

  colours() {
    const gl = this.gl;
    const texture = gl.createTexture();
    bind(gl, 0, texture);
    gl.texStorage2D(gl.TEXTURE_2D, 1, gl.RGBA8, 256, 1);
    plain(gl, gl.TEXTURE_2D, gl.LINEAR);
    return texture;
  }

  /** Uploads a frame. @param {Frame} frame */
  take(frame) {
    const gl = this.gl;
    while (this.clouds.length > frame.parts.length) {
      const gone = this.clouds.pop();
      if (gone) {
        gl.deleteBuffer(gone.buffer);
        gl.deleteVertexArray(gone.points);
        gl.deleteVertexArray(gone.arrows);
      }
    }
    frame.parts.forEach((part, k) => {
      let cloud = this.clouds[k];
      if (!cloud || cloud.part.record !== part.record) {
        const buffer = cloud?.buffer ?? gl.createBuffer();
        cloud = { part, buffer, points: this.layout(buffer, part, 0), arrows: part.record > 8 ? this.layout(buffer, part, 1) : null };
        this.clouds[k] = cloud;
      }
      cloud.part = part;
      gl.bindBuffer(gl.ARRAY_BUFFER, cloud.buffer);
      gl.bufferData(gl.ARRAY_BUFFER, part.records, gl.STREAM_DRAW);
    });
    this.volume.take(frame.volumes[0] ?? null);
    this.settled = false;
  }

  /**
   * Returns the vertex array that describes the layout of a record.
   * @param {WebGLBuffer | null} buffer
   * @param {Part} part
   * @param {number} each 1 if all vertices of an instance share a record, 0 if every vertex has its own
   */
  layout(buffer, part, each) {
    const gl = this.gl;
    const layout = gl.createVertexArray();
    gl.bindVertexArray(layout);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    const numbers = /** @type {[number, number, number, number][]} */ ([
      [0, 3, gl.UNSIGNED_SHORT, 0], [1, 1, gl.UNSIGNED_BYTE, 6], [2, 1, gl.UNSIGNED_BYTE, 7],
    ]);
    if (part.record > 8) numbers.push([3, 3, gl.BYTE, 8]);
    for (const [place, count, type, offset] of numbers) {
      gl.enableVertexAttribArray(place);
      gl.vertexAttribPointer(place, count, type, true, part.record, offset);
      gl.vertexAttribDivisor(place, each);
    }
    gl.bindVertexArray(null);
    return layout;
  }

  /** @param {Settings} settings */
  sourceOf(settings) {
    if (settings.value === "none" || settings.value === "part" || settings.value === "density") return SOURCES[settings.value];
    return SOURCES.value;
  }

  /** Returns the source of colour for a part; none if the part lacks the value. @param {number} source @param {Part | undefined} part */
  sourceFor(source, part) {
    return source === SOURCES.value && part && !(part.range[1] > part.range[0]) ? SOURCES.none : source;
  }

  /** @param {Settings} settings */
  takeColours(settings) {
    const name = `${settings.map} ${settings.light}`;
    if (name === this.mapName) return;
    this.mapName = name;
    const gl = this.gl;
    for (const [texture, bytes] of /** @type {[WebGLTexture, Uint8Array][]} */ ([[this.map, mapBytes(settings.map)], [this.parts, partBytes(settings.light)]])) {
      bind(gl, 0, texture);
      gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, 256, 1, gl.RGBA, gl.UNSIGNED_BYTE, bytes);
    }
  }

  /**
   * Draws the picture. Returns whether another drawing is needed for the exposure to settle.
   * @param {Camera} camera
   * @param {Settings} settings
   * @param {boolean} [atOnce] settle the exposure now
   * @returns {boolean}
   */
  draw(camera, settings, atOnce = false) {
    const gl = this.gl, begin = performance.now();
    const { width, height } = this.canvas;
    const aspect = width / height;
    const matrix = camera.matrix(aspect);
    const wanted = this.sourceOf(settings), source = this.sourceFor(wanted, this.clouds[0]?.part);
    this.takeColours(settings);
    this.sums.resize(width, height);
    this.addUp(camera, settings, matrix, source);
    let settled = this.settled;
    if (!settled && (atOnce || this.due)) {
      this.metered = begin;
      do settled = this.adapt(atOnce ? 1 : 0.35); while (atOnce && !settled);
      this.settled = settled;
    }
    if (settings.glow) this.blur();
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(0, 0, width, height);
    gl.bindVertexArray(this.empty);
    bind(gl, 0, this.sums.texture);
    bind(gl, 1, this.map);
    bind(gl, 2, this.halos[0].texture ?? this.map);
    const paper = settings.light ? [0.988, 0.988, 0.992] : [0.027, 0.027, 0.047];
    this.developing.use({
      sums: { unit: 0 }, map: { unit: 1 }, halo: { unit: 2 }, source, paper,
      exposure: this.exposure * 2 ** settings.exposure, light: settings.light ? 1 : 0, glow: settings.glow ? 0.6 : 0,
    });
    gl.disable(gl.BLEND);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    if (this.volume.draw(camera, settings, this.map, [width, height], matrix)) settled = false;
    if (settings.arrows) this.drawArrows(settings, matrix, wanted, aspect);
    this.begun = begin;
    gl.deleteSync(this.fence);
    this.fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    gl.flush();
    return !settled;
  }

  /** Whether the GPU is still working on the last drawing. */
  get busy() {
    const gl = this.gl;
    if (!this.fence) return false;
    if (gl.getSyncParameter(this.fence, gl.SYNC_STATUS) !== gl.SIGNALED && !gl.isContextLost()) return true;
    gl.deleteSync(this.fence);
    this.fence = null;
    this.seconds = (performance.now() - this.begun) / 1000;
    return false;
  }

  /**
   * Sums all points.
   * @param {Camera} camera
   * @param {Settings} settings
   * @param {Float32Array} matrix
   * @param {number} source
   */
  addUp(camera, settings, matrix, source) {
    const gl = this.gl;
    this.sums.begin();
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE);
    bind(gl, 0, this.map);
    bind(gl, 1, this.parts);
    const scale = this.canvas.height / Math.max(1, this.canvas.clientHeight);
    this.clouds.forEach((cloud, k) => {
      // Only the first cloud is drawn as points, and not if it is drawn as arrows.
      if (k > 0 || (settings.arrows && cloud.arrows)) return;
      const { low, high, count } = cloud.part;
      this.points.use({
        matrix, low, extent: [high[0] - low[0], high[1] - low[1], high[2] - low[2]], source,
        size: settings.size * scale, distance: camera.distance, depth: settings.depth, map: { unit: 0 }, parts: { unit: 1 },
      });
      gl.bindVertexArray(cloud.points);
      gl.drawArrays(gl.POINTS, 0, count);
    });
  }

  /**
   * @param {Settings} settings
   * @param {Float32Array} matrix
   * @param {number} source
   * @param {number} aspect
   */
  drawArrows(settings, matrix, source, aspect) {
    const gl = this.gl;
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    bind(gl, 0, this.map);
    bind(gl, 1, this.parts);
    for (const { part, arrows } of this.clouds) {
      if (!arrows) continue;
      const { low, high } = part;
      const extent = [high[0] - low[0], high[1] - low[1], high[2] - low[2]];
      const span = 0.08 * Math.hypot(extent[0], extent[1], extent[2]);
      this.arrows.use({
        matrix, low, extent, span, source: this.sourceFor(source, part), aspect, light: settings.light ? 1 : 0, map: { unit: 0 }, parts: { unit: 1 },
      });
      gl.bindVertexArray(arrows);
      gl.drawArraysInstanced(gl.LINES, 0, 6, part.count);
    }
  }

  /** Blurs the sums at a quarter of the resolution. */
  blur() {
    const gl = this.gl;
    const [width, height] = [Math.ceil(this.sums.width / 4), Math.ceil(this.sums.height / 4)];
    this.halos.forEach((halo) => halo.resize(width, height));
    gl.disable(gl.BLEND);
    gl.bindVertexArray(this.empty);
    const passes = /** @type {[WebGLTexture | null, Target, number[]][]} */ ([
      [this.sums.texture, this.halos[1], [1.2 / width, 0]], [this.halos[1].texture, this.halos[0], [0, 1.2 / height]],
    ]);
    for (const [image, into, step] of passes) {
      into.begin();
      bind(gl, 0, image);
      this.blurring.use({ image: { unit: 0 }, step });
      gl.drawArrays(gl.TRIANGLES, 0, 3);
    }
  }

  /** Whether the exposure may be measured again. */
  get due() { return performance.now() - this.metered > METER_PAUSE; }

  /** Returns the summed density and the number of pixels with points of each cell. @returns {Float32Array} */
  measure() {
    const gl = this.gl;
    this.meter.resize(METER, METER);
    this.meter.begin();
    gl.disable(gl.BLEND);
    gl.bindVertexArray(this.empty);
    bind(gl, 0, this.sums.texture);
    this.metering.use({ sums: { unit: 0 } });
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    const found = new Float32Array(4 * METER * METER);
    gl.readPixels(0, 0, METER, METER, gl.RGBA, gl.FLOAT, found);
    return found;
  }

  /**
   * Moves the exposure towards the value for the mean density.
   * @param {number} share fraction of the way
   * @returns {boolean} whether it has settled
   */
  adapt(share) {
    const found = this.measure();
    let sum = 0, count = 0;
    for (let k = 0; k < found.length; k += 4) { sum += found[k]; count += found[k + 1]; }
    if (sum === 0) return true;
    const wanted = (DEPTH_OF_MEAN * count) / sum;
    if (this.exposure === 0) share = 1;
    this.exposure *= (wanted / (this.exposure || wanted)) ** share;
    if (share === 1) this.exposure = wanted;
    return Math.abs(Math.log(wanted / this.exposure)) < 0.02;
  }

  /**
   * Returns the summed density of points in a grid of cells over the picture, row by row from the lower left.
   * @param {number} cells along each side
   * @returns {number[]}
   */
  density(cells) {
    const gl = this.gl;
    const { width, height } = this.sums;
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.sums.buffer);
    const all = new Float32Array(4 * width * height);
    gl.readPixels(0, 0, width, height, gl.RGBA, gl.FLOAT, all);
    const grid = new Array(cells * cells).fill(0);
    for (let y = 0; y < height; y += 1) {
      for (let x = 0; x < width; x += 1) {
        grid[Math.floor((y * cells) / height) * cells + Math.floor((x * cells) / width)] += all[4 * (y * width + x) + 3];
      }
    }
    return grid;
  }
}

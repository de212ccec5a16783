// Small helpers around WebGL2.

/**
 * @param {WebGL2RenderingContext} gl
 * @param {number} kind
 * @param {string} source
 * @returns {WebGLShader}
 */
function shader(gl, kind, source) {
  const made = gl.createShader(kind);
  if (!made) throw new Error("cannot create a shader");
  gl.shaderSource(made, `#version 300 es\nprecision highp float;\nprecision highp int;\nprecision highp sampler3D;\n${source}`);
  gl.compileShader(made);
  if (!gl.getShaderParameter(made, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(made) ?? "a shader does not compile");
  return made;
}

export class Program {
  /**
   * @param {WebGL2RenderingContext} gl
   * @param {string} vertex
   * @param {string} fragment
   * @param {string[]} [attributes] names, in the order of their locations
   */
  constructor(gl, vertex, fragment, attributes = []) {
    this.gl = gl;
    const program = gl.createProgram();
    if (!program) throw new Error("cannot create a program");
    gl.attachShader(program, shader(gl, gl.VERTEX_SHADER, vertex));
    gl.attachShader(program, shader(gl, gl.FRAGMENT_SHADER, fragment));
    attributes.forEach((name, k) => gl.bindAttribLocation(program, k, name));
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program) ?? "linking failed");
    this.program = program;
    /** @type {Map<string, WebGLUniformLocation | null>} */
    this.places = new Map();
  }

  /**
   * Uses the program with these uniforms: a number, a vector of 2 to 4, a matrix of 16, or a texture unit as `{ unit }`.
   * @param {Record<string, number | number[] | Float32Array | { unit: number }>} numbers
   */
  use(numbers) {
    const gl = this.gl;
    gl.useProgram(this.program);
    for (const [name, value] of Object.entries(numbers)) {
      if (!this.places.has(name)) this.places.set(name, gl.getUniformLocation(this.program, name));
      const place = this.places.get(name) ?? null;
      if (typeof value === "number") gl.uniform1f(place, value);
      else if ("unit" in value) gl.uniform1i(place, value.unit);
      else if (value.length === 16) gl.uniformMatrix4fv(place, false, value);
      else if (value.length === 2) gl.uniform2fv(place, value);
      else if (value.length === 3) gl.uniform3fv(place, value);
      else gl.uniform4fv(place, value);
    }
  }
}

/** Vertex shader of a triangle that covers the whole picture, without vertex arrays. */
export const EVERYWHERE = `
out vec2 place;
void main() {
  place = vec2((gl_VertexID << 1) & 2, gl_VertexID & 2);
  gl_Position = vec4(2.0 * place - 1.0, 0.0, 1.0);
}`;

/** A texture that can be drawn into. */
export class Target {
  /**
   * @param {WebGL2RenderingContext} gl
   * @param {number} format internal format, for instance gl.RGBA32F
   * @param {boolean} smooth whether pixels are interpolated
   */
  constructor(gl, format, smooth) {
    this.gl = gl;
    this.format = format;
    this.filter = smooth ? gl.LINEAR : gl.NEAREST;
    this.width = 0;
    this.height = 0;
    /** @type {WebGLTexture | null} */ this.texture = null;
    this.buffer = gl.createFramebuffer();
  }

  /** @param {number} width @param {number} height */
  resize(width, height) {
    if (width === this.width && height === this.height) return;
    const gl = this.gl;
    if (this.texture) gl.deleteTexture(this.texture);
    this.texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, this.texture);
    gl.texStorage2D(gl.TEXTURE_2D, 1, this.format, width, height);
    plain(gl, gl.TEXTURE_2D, this.filter);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.buffer);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, this.texture, 0);
    [this.width, this.height] = [width, height];
  }

  /** Clears the texture and directs drawing to it. */
  begin() {
    const gl = this.gl;
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.buffer);
    gl.viewport(0, 0, this.width, this.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
  }
}

/**
 * Sets the filter of the bound texture, and clamps it to its edge.
 * @param {WebGL2RenderingContext} gl
 * @param {number} kind
 * @param {number} filter
 */
export function plain(gl, kind, filter) {
  gl.texParameteri(kind, gl.TEXTURE_MIN_FILTER, filter);
  gl.texParameteri(kind, gl.TEXTURE_MAG_FILTER, filter);
  gl.texParameteri(kind, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
  gl.texParameteri(kind, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
  if (kind === gl.TEXTURE_3D) gl.texParameteri(kind, gl.TEXTURE_WRAP_R, gl.CLAMP_TO_EDGE);
}

/**
 * @param {WebGL2RenderingContext} gl
 * @param {number} unit
 * @param {WebGLTexture | null} texture
 * @param {number} [kind]
 */
export function bind(gl, unit, texture, kind = gl.TEXTURE_2D) {
  gl.activeTexture(gl.TEXTURE0 + unit);
  gl.bindTexture(kind, texture);
}

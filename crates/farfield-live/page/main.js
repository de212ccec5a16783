// The page: receives frames, draws the newest, and sends the user's commands.

import { Camera } from "./camera.js";
import { Charts, short } from "./charts.js";
import { Connection } from "./connection.js";
import { boxOf, middleOf, readFrame } from "./frame.js";
import { listening, pointing } from "./input.js";
import { Panel, count, element, input, select } from "./panel.js";
import { Picture } from "./picture.js";
import { Film, picture as pictureOf, savePicture } from "./saving.js";
import { DEFAULTS, readSettings, writeFragment } from "./settings.js";

/** @typedef {import("./frame.js").Frame} Frame */

/** The most bytes of frames kept for scrubbing. */
const MOST_HISTORY = 384 * 2 ** 20;
/** The most grid points that are requested. */
const VOXELS = 2 ** 21;
/** If drawing takes longer than this, in seconds, fewer points are requested. */
const SLOW = 0.12;
/** If the transfer of a frame takes longer than this, in seconds, fewer points are requested. */
const LONG = 0.4;

const canvas = /** @type {HTMLCanvasElement} */ (element("picture"));
const settings = { ...DEFAULTS };
const camera = new Camera();
/** @type {Picture} */ let picture;
const charts = new Charts(element("charts"));
const film = new Film();

const state = {
  /** @type {any} */ about: null,
  /** @type {any} */ status: null,
  /** The frame that is shown. @type {Frame | null} */ frame: null,
  /** Messages of the frames shown so far. @type {{ step: number, time: number, buffer: ArrayBuffer }[]} */ history: [],
  historyBytes: 0,
  /** The index in the history or the recording; -1 for the newest. */ at: -1,
  /** Moments of a recording: step and time. @type {[number, number][]} */ moments: [],
  open: false,
  /** Whether the page has been connected before. */ known: false,
  dirty: true,
  /** Whether only the exposure still changes. */ settling: false,
  /** Number of frames received but not yet confirmed with "ready". */ owed: 0,
  /** Arrival times and bytes of the frames of the last seconds. @type {[number, number][]} */ arrivals: [],
  drawSeconds: 0,
  /** When the next frame was announced, and the mean time from the announcement to the frame. */
  announced: 0,
  transferSeconds: 0,
  /** Whether a drawing is in progress. */ drawing: false,
  /** Fraction of the chosen points that this browser and its network can handle. */ share: 1,
  frames: 0,
  /** Number of drawings so far. */ drawings: 0,
};

const isRecording = () => state.about?.source === "recording";
/** Whether z points up. Vortices travel along z; for them z points right. */
const isUpright = () => state.about?.kind !== "vortex";

const connection = new Connection({
  open(open) {
    state.open = open;
    if (open) {
      if (state.known) [state.history, state.historyBytes, state.owed] = [[], 0, 0];
      say(state.known ? "connected again" : "", 2000);
      state.known = true;
    } else if (state.known) {
      say("the program has ended or the connection was lost; trying to reconnect");
    }
    showState();
  },
  frame(frame, buffer) {
    state.frames += 1;
    state.owed += 1;
    state.arrivals.push([performance.now(), buffer.byteLength]);
    state.transferSeconds += 0.5 * ((performance.now() - state.announced) / 1000 - state.transferSeconds);
    if (!isRecording()) remember(frame, buffer);
    if (isRecording() || state.at < 0) show(frame);
    else connectionReady();
  },
  text(kind, message) {
    if (kind === "coming") { state.announced = performance.now(); return; }
    if (kind === "about") takeAbout(message);
    else if (kind === "status") state.status = message;
    else if (kind === "rows") charts.add(message.restart, message.rows);
    else if (kind === "moments") takeMoments(message.moments);
    else if (kind === "refused") say(message.why, 5000);
    showState();
  },
});

/** @param {any} about */
function takeAbout(about) {
  const first = state.about === null || state.about.title !== about.title || state.about.kind !== about.kind;
  state.about = about;
  document.title = about.title ? `${about.title} - farfield` : "farfield";
  element("name").textContent = about.title || "farfield";
  panel.offer(about.values, about.volumes, about.kind !== "flow" && about.kind !== "file");
  charts.describe(about.columns, about.references);
  element("change").hidden = about.changeable.length === 0;
  const keys = select("key"), chosen = keys.value;
  keys.replaceChildren(...about.changeable.map((/** @type {any} */ { key }) => new Option(key, key)));
  if (about.changeable.some((/** @type {any} */ { key }) => key === chosen)) keys.value = chosen;
  showChangeable();
  for (const id of ["pause", "step"]) element(id).hidden = about.source === "recording";
  if (first && !camera.moved) camera.preset("oblique", isUpright());
  if (first && about.kind === "gravity" && !location.hash.includes("glow=")) settings.glow = true;
  panel.show();
  ask();
}

function showChangeable() {
  const found = state.about?.changeable.find((/** @type {any} */ { key }) => key === select("key").value);
  input("new-value").value = found ? String(found.value) : "";
}

/** @param {[number, number][]} moments */
function takeMoments(moments) {
  state.moments = moments;
  if (isRecording() && state.at < 0) connection.send({ do: "show", moment: Math.max(0, moments.length - 1) });
}

/** @param {Frame} frame @param {ArrayBuffer} buffer */
function remember(frame, buffer) {
  const last = state.history[state.history.length - 1];
  // The same moment again, for instance with another colouring.
  if (last && last.step === frame.step) {
    state.historyBytes -= last.buffer.byteLength;
    state.history.pop();
  }
  state.history.push({ step: frame.step, time: frame.time, buffer });
  state.historyBytes += buffer.byteLength;
  while (state.historyBytes > MOST_HISTORY && state.history.length > 2) {
    const gone = state.history.shift();
    state.historyBytes -= gone?.buffer.byteLength ?? 0;
    if (state.at > 0) state.at -= 1;
  }
}

/** @param {Frame} frame */
function show(frame) {
  state.frame = frame;
  picture.take(frame);
  follow(frame);
  state.dirty = true;
}

/** Keeps the points in view until the user moves the camera. @param {Frame} frame */
function follow(frame) {
  const part = frame.parts.find((candidate) => candidate.count > 0);
  if (!part) {
    const box = boxOf(frame);
    if (box && !camera.moved) camera.frame(...box);
    return;
  }
  const { centre, half } = middleOf(part);
  if (!camera.moved) {
    const wanted = 1.25 * Math.hypot(...half);
    const known = camera.reach === 1 ? wanted : camera.reach;
    // The view widens when the points spread, but does not narrow at once: otherwise shrinking would be invisible.
    camera.reach = Math.max(wanted, Math.min(known, 1.5 * wanted));
  }
  if (camera.follows) camera.centre = centre;
}

function connectionReady() {
  for (; state.owed > 0; state.owed -= 1) connection.ready();
}

/** Requests the contents of frames. */
function ask() {
  const special = ["part", "density", "none"].includes(settings.value);
  const has = (state.about?.volumes ?? []).length > 0;
  const wanted = has && (settings.cloud || settings.slice || settings.blocks);
  connection.ask({
    do: "want", points: Math.round(2 ** settings.points * state.share), value: special ? "" : settings.value,
    elements: settings.arrows, volume: wanted || has ? settings.volume : "", voxels: has ? VOXELS : 0,
  });
}

function changed() {
  state.dirty = true;
  picture.settled = false;
  ask();
  writeAddress();
}

let addressTimer = 0;
function writeAddress() {
  clearTimeout(addressTimer);
  addressTimer = setTimeout(() => history.replaceState(null, "", writeFragment(settings, camera.toText())), 200);
}

function moved() {
  state.dirty = true;
  picture.settled = false;
  writeAddress();
}

/** @param {string} words @param {number} [milliseconds] */
function say(words, milliseconds = 0) {
  const message = element("message");
  message.hidden = words === "";
  message.textContent = words;
  if (milliseconds > 0) setTimeout(() => { if (message.textContent === words) message.hidden = true; }, milliseconds);
}

// Time.

function places() { return isRecording() ? state.moments.length : state.history.length; }

/** Goes to an index in the history or the recording; -1 for the newest. @param {number} at */
function goTo(at) {
  const last = places() - 1;
  state.at = at >= last || at < 0 ? -1 : at;
  const place = state.at < 0 ? last : state.at;
  if (isRecording()) {
    connection.send({ do: "show", moment: Math.max(0, place) });
  } else if (state.history[place]) {
    show(readFrame(state.history[place].buffer));
  }
  showState();
}

/** @param {number} by */
function scrub(by) {
  const last = places() - 1;
  const from = state.at < 0 ? last : state.at;
  goTo(Math.max(0, Math.min(last, from + by)));
}

function pauseOrGo() {
  if (isRecording()) return;
  const paused = state.status?.paused;
  connection.send({ do: paused ? "go" : "pause" });
}

function oneStep() {
  if (isRecording()) { scrub(1); return; }
  state.at = -1;
  connection.send({ do: "step", count: 1 });
}

/** Drops tracers under a point of the picture. @param {number} x @param {number} y */
function drop(x, y) {
  if (!state.about?.tracers) { say("this case cannot carry tracers", 3000); return; }
  const at = camera.place(x, y, canvas.width / canvas.height);
  connection.send({ do: "drop", at, radius: 0.06 * camera.reach, count: 1000 });
}

async function save() {
  const draw = () => picture.draw(camera, settings, true);
  const blob = await pictureOf(canvas, select("picture-size").value, draw);
  savePicture(blob, state.frame?.step ?? 0);
}

function record() {
  film.toggle(canvas);
  element("save-film").classList.toggle("active", film.running);
  element("save-film").textContent = film.running ? "end and save film (v)" : "record film (v)";
}

function fullScreen() {
  if (document.fullscreenElement) void document.exitFullscreen();
  else void document.documentElement.requestFullscreen();
}

function help() {
  const dialog = /** @type {HTMLDialogElement} */ (element("help"));
  if (dialog.open) dialog.close();
  else dialog.showModal();
}

// Texts and numbers beside the picture.

function showState() {
  const { status, about } = state;
  const words = [];
  if (!state.open) words.push(state.known ? "not connected" : "connecting");
  if (status && !isRecording()) {
    words.push(`step ${status.step}, time ${short(status.time)}${about?.end ? ` of ${short(about.end)}` : ""}`);
    if (status.finished) words.push("finished");
    else if (status.paused) words.push("paused");
    if (status.remark) words.push(status.remark);
  }
  if (isRecording()) words.push(`${state.moments.length} moment${state.moments.length === 1 ? "" : "s"}`);
  element("state").textContent = words.join("; ");
  element("pause").textContent = status?.paused ? "continue" : "pause";
  if (status?.rate !== undefined && document.activeElement !== input("rate")) input("rate").value = String(status.rate);
  const slider = input("scrub"), last = Math.max(0, places() - 1);
  slider.max = String(last);
  slider.value = String(state.at < 0 ? last : state.at);
  slider.disabled = last === 0;
  const frame = state.frame;
  element("when").textContent = frame ? `step ${frame.step}, time ${short(frame.time)}${state.at < 0 ? "" : " (not the newest)"}` : "";
}

function showFigures() {
  const now = performance.now();
  state.arrivals = state.arrivals.filter(([when]) => now - when < 2000);
  const rate = state.arrivals.length / 2, bytes = state.arrivals.reduce((sum, [, size]) => sum + size, 0) / 2;
  const { status, frame, about } = state;
  /** @type {[string, string][]} */ const figures = [];
  if (status?.dt) figures.push(["dt", `${short(status.dt)} (${status.limit})`]);
  if (status?.seconds?.elapsed > 0 && status.steps > 0) {
    const { elapsed, stepping, sums, showing } = status.seconds;
    const share = (/** @type {number} */ part) => `${Math.round((100 * part) / elapsed)} %`;
    figures.push(["steps per second", short(Number((status.steps / elapsed).toPrecision(3)))]);
    figures.push(["sums", share(sums)], ["rest of steps", share(Math.max(0, stepping - sums))], ["showing", share(showing)]);
  }
  figures.push(["frames per second", rate.toFixed(1)], ["transfer", `${(bytes / 1e6).toFixed(1)} MB/s`]);
  figures.push(["drawing", `${(1000 * state.drawSeconds).toFixed(1)} ms`]);
  const part = frame?.parts[0];
  if (part) figures.push([part.name, part.count < part.total ? `${count(part.count)} of ${count(part.total)}` : count(part.total)]);
  const volume = frame?.volumes[0];
  if (volume) figures.push(["grid", volume.size.join(" x ")], ["blocks", String(volume.blocks.length / 5)]);
  if (status?.viewers > 1) figures.push(["viewers", String(status.viewers)]);
  if (about?.device) figures.push(["on", about.device]);
  panel.figures(figures);
  const isValue = !["part", "density", "none"].includes(settings.value);
  const scaled = frame?.parts.find(({ value, range }) => value === settings.value && range[1] > range[0]);
  if (volume) panel.legend(volume.name, volume.range);
  else if (isValue && scaled) panel.legend(scaled.value, scaled.range);
  else panel.legend("", null);
}

// The loop: draws when something has changed.

function size() {
  const ratio = Math.min(window.devicePixelRatio || 1, 2);
  const [width, height] = [Math.round(canvas.clientWidth * ratio), Math.round(canvas.clientHeight * ratio)];
  if (width > 0 && height > 0 && (canvas.width !== width || canvas.height !== height)) {
    [canvas.width, canvas.height] = [width, height];
    state.dirty = true;
    picture.settled = false;
  }
}

function loop() {
  size();
  const was = state.drawing;
  state.drawing = picture.busy;
  if (was && !state.drawing) {
    state.drawSeconds += 0.2 * (picture.seconds - state.drawSeconds);
    adaptPoints();
  }
  // One drawing at a time, so that keys do not wait behind a queue on a slow GPU.
  if (!state.drawing) {
    if (state.dirty || (state.settling && picture.due)) draw();
    connectionReady();
  }
  requestAnimationFrame(loop);
}

function draw() {
  state.settling = picture.draw(camera, settings);
  state.dirty = false;
  state.drawing = true;
  state.drawings += 1;
  showState();
}

/** Requests fewer points if drawing or the network is slow, and more again if both are fast. */
function adaptPoints() {
  const before = state.share;
  const isSlow = state.drawSeconds > SLOW || state.transferSeconds > LONG;
  const isFast = state.drawSeconds < SLOW / 3 && state.transferSeconds < LONG / 3;
  if (isSlow && state.share > 1 / 64) state.share /= 2;
  else if (isFast && state.share < 1) state.share *= 2;
  if (state.share !== before) {
    [state.drawSeconds, state.transferSeconds] = [SLOW / 2, LONG / 2];
    ask();
  }
}

function start() {
  try {
    picture = new Picture(canvas);
  } catch (error) {
    say(error instanceof Error ? error.message : String(error));
    return;
  }
  const camera0 = new URLSearchParams(location.hash.replace(/^#/, "")).get("camera");
  if (camera0) camera.fromText(camera0);
  canvas.addEventListener("webglcontextlost", () => say("the browser has lost its WebGL context; reload the page"));
  setInterval(showFigures, 500);
  canvas.focus();
  loop();
}

readSettings(location.hash, settings);
const panel = new Panel(settings, changed);
pointing(canvas, camera, moved, drop);
addEventListener("hashchange", () => {
  readSettings(location.hash, settings);
  const text = new URLSearchParams(location.hash.replace(/^#/, "")).get("camera");
  if (text) camera.fromText(text);
  panel.show();
  state.dirty = true;
  picture.settled = false;
  ask();
});

element("pause").onclick = pauseOrGo;
element("step").onclick = oneStep;
element("newest").onclick = () => goTo(-1);
input("scrub").oninput = () => goTo(Number(input("scrub").value));
element("save-picture").onclick = () => void save();
element("save-film").onclick = record;
element("help-button").onclick = help;
element("help-close").onclick = help;
select("key").oninput = showChangeable;
element("change-form").onsubmit = (event) => {
  event.preventDefault();
  connection.send({ do: "change", key: select("key").value, value: input("new-value").value.trim() });
};
input("rate").onchange = () => connection.send({ do: "limit", rate: Math.max(0, Number(input("rate").value) || 0) });

const TURN = 0.08, SHIFT = 0.04;
/** @param {number} x @param {number} y */
const arrow = (x, y) => (/** @type {KeyboardEvent} */ event) => {
  if (event.shiftKey) camera.pan(-SHIFT * x, SHIFT * y);
  else camera.orbit(TURN * x, -TURN * y);
  moved();
};
/** @param {"oblique" | "side" | "axis" | "front"} name */
const look = (name) => () => {
  camera.preset(name, isUpright());
  camera.moved = true;
  moved();
};
/** @param {"arrows" | "glow" | "light" | "cloud" | "slice" | "blocks" | "bare"} name */
const flip = (name) => () => panel.set(name, !settings[name]);
/** @param {"size" | "exposure" | "points" | "place" | "depth"} name @param {number} by */
const more = (name, by) => () => {
  const slider = input(name);
  panel.set(name, Math.min(Number(slider.max), Math.max(Number(slider.min), settings[name] + by)));
};

listening([
  { keys: [" "], words: "pause or continue", action: pauseOrGo },
  { keys: ["."], words: "one step", action: oneStep },
  { keys: ["["], words: "to the previous moment", action: () => scrub(-1) },
  { keys: ["]"], words: "to the next moment", action: () => scrub(1) },
  { keys: ["Home"], words: "to the first moment", action: () => goTo(0) },
  { keys: ["End"], words: "to the newest moment", action: () => goTo(-1) },
  { keys: ["ArrowLeft"], words: "turn left; with Shift, pan", action: arrow(-1, 0) },
  { keys: ["ArrowRight"], words: "turn right", action: arrow(1, 0) },
  { keys: ["ArrowUp"], words: "turn up", action: arrow(0, 1) },
  { keys: ["ArrowDown"], words: "turn down", action: arrow(0, -1) },
  { keys: ["q"], words: "roll left", action: () => { camera.roll(TURN); moved(); } },
  { keys: ["e"], words: "roll right", action: () => { camera.roll(-TURN); moved(); } },
  { keys: ["+", "="], words: "zoom in", action: () => { camera.zoom(1.1); moved(); } },
  { keys: ["-"], words: "zoom out", action: () => { camera.zoom(1 / 1.1); moved(); } },
  { keys: ["1"], words: "oblique view from above", action: look("oblique") },
  { keys: ["2"], words: "view from the side", action: look("side") },
  { keys: ["3"], words: "view along the axis", action: look("axis") },
  { keys: ["4"], words: "view from the front", action: look("front") },
  { keys: ["r"], words: "reset: follow the points again", action: () => { [camera.moved, camera.follows, camera.reach] = [false, true, 1]; if (state.frame) follow(state.frame); moved(); } },
  { keys: ["c"], words: "next colouring", action: () => panel.next("value") },
  { keys: ["m"], words: "next colour map", action: () => panel.next("map") },
  { keys: ["u"], words: "next field of a flow", action: () => panel.next("volume") },
  { keys: ["a"], words: "elements as arrows", action: flip("arrows") },
  { keys: ["g"], words: "glow", action: flip("glow") },
  { keys: ["l"], words: "light or dark background", action: flip("light") },
  { keys: ["w"], words: "volume of a flow", action: flip("cloud") },
  { keys: ["x"], words: "slice of a flow", action: flip("slice") },
  { keys: ["z"], words: "slice normal to the next axis", action: () => panel.set("axis", (settings.axis + 1) % 4) },
  { keys: [","], words: "move the slice back", action: more("place", -0.01) },
  { keys: [";"], words: "move the slice forward", action: more("place", 0.01) },
  { keys: ["b"], words: "blocks of a grid", action: flip("blocks") },
  { keys: ["{"], words: "smaller points", action: more("size", -0.2) },
  { keys: ["}"], words: "larger points", action: more("size", 0.2) },
  { keys: ["o"], words: "darker", action: more("exposure", -0.25) },
  { keys: ["O"], words: "brighter", action: more("exposure", 0.25) },
  { keys: ["t"], words: "drop tracers at the centre", action: () => drop(0, 0) },
  { keys: ["s"], words: "save the picture", action: () => void save() },
  { keys: ["v"], words: "start recording a film, or end and save it", action: record },
  { keys: ["f"], words: "full screen", action: fullScreen },
  { keys: ["p"], words: "hide or show the panels", action: flip("bare") },
  { keys: ["h", "?"], words: "this help", action: help },
]);

start();

/** For test scripts: the state of the page, and its pictures. */
Object.assign(globalThis, {
  farfield: {
    state,
    settings,
    camera,
    connection,
    film,
    density: (/** @type {number} */ cells) => { picture.draw(camera, settings); return picture.density(cells); },
    picture: (/** @type {string} */ wanted) => pictureOf(canvas, wanted, () => picture.draw(camera, settings, true)),
  },
});

// Mouse, touch and keyboard input.

import { element } from "./panel.js";

/** @typedef {import("./camera.js").Camera} Camera */

/**
 * A key binding: the keys, its text in the help, the action.
 * @typedef {{ keys: string[], words: string, action: (event: KeyboardEvent) => void }} Key
 */

/**
 * Rotates, pans and zooms with mouse and fingers.
 * @param {HTMLCanvasElement} canvas
 * @param {Camera} camera
 * @param {() => void} moved
 * @param {(x: number, y: number) => void} pointed called on a double click; x and y go from -1 to 1 across the picture
 */
export function pointing(canvas, camera, moved, pointed) {
  /** @type {Map<number, { x: number, y: number }>} */
  const fingers = new Map();
  const spread = () => {
    const [a, b] = [...fingers.values()];
    return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, apart: Math.hypot(a.x - b.x, a.y - b.y) };
  };
  canvas.onpointerdown = (event) => {
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
  };
  canvas.onpointermove = (event) => {
    const before = fingers.get(event.pointerId);
    if (!before) return;
    const height = canvas.clientHeight;
    if (fingers.size === 2) {
      const old = spread();
      fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
      const now = spread();
      camera.pan((now.x - old.x) / height, -(now.y - old.y) / height);
      if (old.apart > 0 && now.apart > 0) camera.zoom(now.apart / old.apart);
    } else {
      const [dx, dy] = [(event.clientX - before.x) / height, (event.clientY - before.y) / height];
      fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
      if (event.shiftKey || (event.buttons & 6) !== 0) camera.pan(dx, -dy);
      else camera.orbit(4 * dx, 4 * dy);
    }
    moved();
  };
  canvas.onpointerup = canvas.onpointercancel = (event) => fingers.delete(event.pointerId);
  canvas.oncontextmenu = (event) => event.preventDefault();
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    camera.zoom(Math.exp(-event.deltaY * (event.deltaMode === 0 ? 0.0015 : 0.05)));
    moved();
  }, { passive: false });
  canvas.ondblclick = (event) => {
    pointed((2 * event.clientX) / canvas.clientWidth - 1, 1 - (2 * event.clientY) / canvas.clientHeight);
  };
}

/**
 * Handles key bindings, except while the user types or operates a control with the keyboard.
 * @param {Key[]} keys
 */
export function listening(keys) {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const target = /** @type {HTMLElement | null} */ (event.target);
    const kind = target instanceof HTMLInputElement ? target.type : "";
    const typing = ["text", "number"].includes(kind) || target instanceof HTMLSelectElement;
    const working = (kind === "range" && event.key.startsWith("Arrow")) || (event.key === " " && target instanceof HTMLButtonElement)
      || (event.key === " " && kind === "checkbox");
    if (typing || working) return;
    const key = keys.find((candidate) => candidate.keys.includes(event.key));
    if (!key) return;
    event.preventDefault();
    key.action(event);
  });
  const rows = keys.map(({ keys: names, words }) => {
    const row = document.createElement("tr");
    for (const text of [names.map(nameOf).join("  "), words]) {
      const cell = document.createElement("td");
      cell.textContent = text;
      row.append(cell);
    }
    return row;
  });
  element("keys").replaceChildren(...rows);
}

/** @param {string} key */
function nameOf(key) {
  /** @type {Record<string, string>} */
  const names = { " ": "space", ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓" };
  return names[key] ?? key;
}

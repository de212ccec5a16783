// The WebSocket to the program, reopened whenever it closes.

import { readFrame } from "./frame.js";

/** @typedef {import("./frame.js").Frame} Frame */

/**
 * @typedef {object} Listener
 * @property {(frame: Frame, buffer: ArrayBuffer) => void} frame
 * @property {(kind: string, message: any) => void} text
 * @property {(open: boolean) => void} open
 */

/** Milliseconds until the next attempt to connect. */
const PAUSE = 700;

export class Connection {
  /** @param {Listener} listener */
  constructor(listener) {
    this.listener = listener;
    /** @type {WebSocket | null} */ this.socket = null;
    /** The requested contents of frames; sent again after every reconnection. @type {object | null} */
    this.want = null;
    this.open();
  }

  open() {
    const token = new URLSearchParams(location.search).get("token");
    const query = token ? `?token=${encodeURIComponent(token)}` : "";
    const socket = new WebSocket(`ws://${location.host}/socket${query}`);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.socket = socket;
      this.listener.open(true);
      if (this.want) this.send(this.want);
      // One frame is in transit while another is drawn.
      this.ready();
      this.ready();
    };
    socket.onmessage = (event) => {
      if (typeof event.data === "string") {
        const message = JSON.parse(event.data);
        this.listener.text(message.type, message);
      } else {
        this.listener.frame(readFrame(event.data), event.data);
      }
    };
    socket.onclose = () => {
      if (this.socket === socket) this.socket = null;
      this.listener.open(false);
      setTimeout(() => this.open(), PAUSE);
    };
  }

  /** @param {object} message */
  send(message) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  /** The last frame is drawn: requests the next one. */
  ready() { this.send({ do: "ready" }); }

  /** @param {object} want */
  ask(want) {
    if (JSON.stringify(want) === JSON.stringify(this.want)) return;
    this.want = want;
    this.send(want);
  }
}

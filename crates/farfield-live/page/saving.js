// Pictures and films as files, made in the page.

/**
 * @param {Blob} blob
 * @param {string} name
 */
function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/**
 * A picture of a chosen size: "1" as shown, or "1920x1080".
 * @param {HTMLCanvasElement} canvas
 * @param {string} size
 * @param {() => void} draw
 * @returns {Promise<Blob>}
 */
export function picture(canvas, size, draw) {
  const shown = [canvas.width, canvas.height];
  const wanted = size.split("x").map(Number);
  if (wanted.length === 2) [canvas.width, canvas.height] = wanted;
  draw();
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("no picture"))), "image/png");
    [canvas.width, canvas.height] = shown;
    draw();
  });
}

/**
 * @param {Blob} blob
 * @param {number} step
 */
export function savePicture(blob, step) {
  download(blob, `farfield-${String(step).padStart(6, "0")}.png`);
}

/** Records what the canvas shows. */
export class Film {
  constructor() {
    /** @type {MediaRecorder | null} */ this.recorder = null;
    /** The last film. @type {Blob | null} */ this.last = null;
  }

  get running() { return this.recorder !== null; }

  /**
   * Begins, or ends and saves.
   * @param {HTMLCanvasElement} canvas
   */
  toggle(canvas) {
    if (this.recorder) {
      this.recorder.stop();
      this.recorder = null;
      return;
    }
    const kinds = ["video/mp4;codecs=avc1.640028", "video/webm;codecs=vp9", "video/webm"];
    const kind = kinds.find((candidate) => MediaRecorder.isTypeSupported(candidate)) ?? "";
    const recorder = new MediaRecorder(canvas.captureStream(30), { mimeType: kind, videoBitsPerSecond: 20_000_000 });
    /** @type {Blob[]} */ const pieces = [];
    recorder.ondataavailable = (event) => pieces.push(event.data);
    recorder.onstop = () => {
      this.last = new Blob(pieces, { type: kind });
      download(this.last, `farfield.${kind.startsWith("video/mp4") ? "mp4" : "webm"}`);
    };
    recorder.start(1000);
    this.recorder = recorder;
  }
}

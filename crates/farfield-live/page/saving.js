// Saves pictures and films as files.

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
 * Draws a picture of a chosen size: "1" for the size on the screen, or for example "1920x1080".
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
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the picture could not be encoded"))), "image/png");
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

/** Records the canvas as a film. */
export class Film {
  constructor() {
    /** @type {MediaRecorder | null} */ this.recorder = null;
    /** The last film. @type {Blob | null} */ this.last = null;
  }

  get running() { return this.recorder !== null; }

  /**
   * Starts a recording, or ends and saves it.
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

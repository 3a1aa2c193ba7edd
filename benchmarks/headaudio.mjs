// Runs the npm package @met4citizen/headaudio over one sound: `node headaudio.mjs PACKAGE RATE < RAW`.
// RAW is mono 32-bit floats at RATE Hz; prints [seconds, viseme or null for silence] a line.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const root = resolve(process.argv[2]);
const load = (name) => import(pathToFileURL(`${root}/modules/${name}.mjs`).href);
const { Processor } = await load("processor");
const PARAMS = await load("parameters");

// The package's own reader of its binary model; only fetching is ours.
globalThis.fetch = async (path) => {
  const bytes = readFileSync(path);
  const whole = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  return { ok: true, arrayBuffer: async () => whole };
};
const { Training } = await load("training");
const { model } = await new Training().loadModel(`${root}/dist/model-en-mixed.bin`);

const lines = [];
const postMessage = (event) => {
  if (event.event === "ended") lines.push([event.t, null]);
  if (event.event === "viseme" && event.viseme !== null)
    lines.push([event.t, event.viseme === PARAMS.MODEL_VISEME_SIL ? null : event.viseme]);
};
const processor = new Processor({ sampleRate: Number(process.argv[3]) }, { port: { postMessage } });
processor._onmessage({ data: { event: "model", model, reset: true } });
const raw = readFileSync(0);
const samples = new Float32Array(raw.buffer.slice(raw.byteOffset, raw.byteOffset + raw.byteLength));
for (let at = 0; at < samples.length; at += 128) processor.process(samples.subarray(at, at + 128));
console.log(lines.map((line) => JSON.stringify(line)).join("\n"));

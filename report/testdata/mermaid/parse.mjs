// Parses diagrams with mermaid. Standard input is a JSON list of
// {"name", "text"}; standard output is one line for each that does not parse.
import { JSDOM } from "jsdom";

const dom = new JSDOM("<!doctype html><body></body>");
globalThis.window = dom.window;
globalThis.document = dom.window.document;
const { default: mermaid } = await import("mermaid");

let input = "";
for await (const chunk of process.stdin) {
  input += chunk;
}
for (const { name, text } of JSON.parse(input)) {
  try {
    const { diagramType } = await mermaid.parse(text);
    if (diagramType !== "xychart") {
      console.log(`${name}: read as ${diagramType}`);
    }
  } catch (err) {
    console.log(`${name}: ${String(err.message).replaceAll("\n", " | ")}`);
  }
}

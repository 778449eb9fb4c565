/**
 * Malformed blocks that no request can contain, or only after a repair. `usually` names each as a reader would. Tests send every one
 * through every entry point of a conversation.
 */

export interface MalformedBlock {
  readonly name: string
  readonly block: unknown
}

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
const HALF = "half \ud83d"
const text = (more: object = {}) => ({ type: "text", text: "words", ...more })
const image = (source: unknown, more: object = {}) => ({ type: "image", source, ...more })
const base64 = (data: unknown, media_type: unknown = "image/png") => ({ type: "base64", media_type, data })
const pdf = (data: unknown) => ({ type: "document", source: base64(data, "application/pdf") })
const call = (more: object = {}) => ({ type: "tool_use", id: "toolu_x", name: "Look", input: {}, ...more })
const result = (content: unknown, more: object = {}) => ({
  type: "tool_result",
  tool_use_id: "toolu_1",
  content,
  ...more,
})
const server = (more: object = {}) => ({ type: "server_tool_use", id: "srv_1", name: "web_search", input: {}, ...more })
const found = (more: object = {}) => ({ type: "web_search_tool_result", tool_use_id: "srv_1", content: [], ...more })
const document = (source: unknown, more: object = {}) => ({ type: "document", source, ...more })

function nested(levels: number): unknown {
  let value: unknown = 1
  for (let at = 0; at < levels; at++) value = { deeper: value }
  return value
}

const cite = { type: "char_location", cited_text: "c", document_index: 0, document_title: null, start_char_index: 0 }

const BLOCKS: Readonly<Record<string, unknown>> = {
  null: null,
  "a number": 5,
  "a text in place of a block": "words",
  "a list": [],
  "an empty object": {},
  "no type": { text: "words" },
  "a type that is a number": { type: 5 },
  "a type that is null": { type: null },
  "an empty type": { type: "" },
  "an unknown type": { type: "hologram", data: 1 },
  "an inherited name as type": { type: "constructor" },
  "__proto__ as type": { type: "__proto__" },
  "text without text": { type: "text" },
  "text of a number": { type: "text", text: 5 },
  "text of null": { type: "text", text: null },
  "text of an object": { type: "text", text: { text: "words" } },
  "empty text": { type: "text", text: "" },
  "white space": { type: "text", text: " \n\t" },
  "half a character": { type: "text", text: HALF },
  "the other half": { type: "text", text: "\ude00 words" },
  "an unknown field": text({ shade: "blue" }),
  "a field of another type": text({ source: { type: "url", url: "https://a.example" } }),
  "cache_control true": text({ cache_control: true }),
  "cache_control of another type": text({ cache_control: { type: "persistent" } }),
  "cache_control of two hours": text({ cache_control: { type: "ephemeral", ttl: "2h" } }),
  "cache_control with more": text({ cache_control: { type: "ephemeral", scope: "all" } }),
  "citations true": text({ citations: true }),
  "citations of numbers": text({ citations: [5] }),
  "an incomplete citation": text({ citations: [cite] }),
  "a whole citation": text({ citations: [{ ...cite, end_char_index: 1 }] }),
  "an unknown citation": text({ citations: [{ type: "rumour" }] }),
  "image without source": { type: "image" },
  "image source null": image(null),
  "image source a text": image("a.png"),
  "image source of no type": image({ media_type: "image/png", data: PNG }),
  "image source of an unknown type": image({ type: "ftp", url: "ftp://a" }),
  "image without data": image({ type: "base64", media_type: "image/png" }),
  "image without media type": image({ type: "base64", data: PNG }),
  "image data of a number": image(base64(5)),
  "image of no bytes": image(base64("")),
  "image data that is not base64": image(base64("not base64!")),
  "image data with a prefix": image(base64(`data:image/png;base64,${PNG}`)),
  "image data with line ends": image(base64(`${PNG.slice(0, 20)}\n${PNG.slice(20)}`)),
  "image data with broken padding": image(base64(PNG.slice(0, -1))),
  "image data of prose": image(base64(Buffer.from("no picture at all").toString("base64"))),
  "a PNG labelled JPEG": image(base64(PNG, "image/jpeg")),
  "an SVG": image(base64(Buffer.from("<svg/>").toString("base64"), "image/svg+xml")),
  "a BMP": image(base64("Qk0=", "image/bmp")),
  "image url without url": image({ type: "url" }),
  "image url of a number": image({ type: "url", url: 5 }),
  "image file without id": image({ type: "file" }),
  "image with a title": image(base64(PNG), { title: "t" }),
  "image with an odd transformation": image(base64(PNG), { transformations: { oversized_image: "crop" } }),
  "document without source": { type: "document" },
  "document source of an unknown type": document({ type: "scroll" }),
  "document of base64 text": document(base64("d29yZHM=", "text/plain")),
  "document text without data": document({ type: "text", media_type: "text/plain" }),
  "document text of html": document({ type: "text", media_type: "text/html", data: "<p>" }),
  "document content of a number": document({ type: "content", content: 5 }),
  "document content of an unknown block": document({ type: "content", content: [{ type: "hologram" }] }),
  "document content of a bad image": document({ type: "content", content: [image(base64("bm8="))] }),
  "document title of a number": document({ type: "text", media_type: "text/plain", data: "d" }, { title: 5 }),
  "document citations of a list": document({ type: "text", media_type: "text/plain", data: "d" }, { citations: [] }),
  "a PDF of prose": pdf("bm8gcGRm"),
  "a PDF of no bytes": pdf(""),
  "a whole document": document({ type: "text", media_type: "text/plain", data: "d" }),
  "search result without content": { type: "search_result", source: "s", title: "t" },
  "search result of a text": { type: "search_result", source: "s", title: "t", content: "words" },
  "search result without title": { type: "search_result", source: "s", content: [text()] },
  "container upload without file": { type: "container_upload" },
  "thinking without thinking": { type: "thinking", signature: "s" },
  "thinking of a number": { type: "thinking", thinking: 5, signature: "s" },
  "thinking without signature": { type: "thinking", thinking: "hm" },
  "thinking with an odd signature": { type: "thinking", thinking: "hm", signature: 5 },
  "redacted thinking without data": { type: "redacted_thinking" },
  "redacted thinking of an object": { type: "redacted_thinking", data: {} },
  "call without id": call({ id: undefined }),
  "call with a number as id": call({ id: 5 }),
  "call with an object as id": call({ id: { toString: 5 } }),
  "call with an empty id": call({ id: "" }),
  "call with spaces in its id": call({ id: "toolu x" }),
  "call without name": call({ name: undefined }),
  "call with a number as name": call({ name: 5 }),
  "call with an empty name": call({ name: "" }),
  "call with a long name": call({ name: "n".repeat(129) }),
  "call with dots in its name": call({ name: "fs.read" }),
  "call without input": call({ input: undefined }),
  "call with a text as input": call({ input: "{}" }),
  "call with a list as input": call({ input: [] }),
  "call with null as input": call({ input: null }),
  "call nested 150 levels deep": call({ input: nested(150) }),
  "call nested 3,000 levels deep": call({ input: nested(3_000) }),
  "call with half a character": call({ input: { text: HALF } }),
  "call with half a character in a key": call({ input: { [HALF]: 1 } }),
  "call with the key __proto__": call({ input: JSON.parse('{"__proto__":{"a":1}}') }),
  "call with a huge number": call({ input: { n: 1e308 } }),
  "call with an unknown field": call({ index: 0 }),
  "call with an odd caller": call({ caller: { type: "someone" } }),
  "result without id": { type: "tool_result", content: "r" },
  "result with a number as id": result("r", { tool_use_id: 5 }),
  "result of no call": result("r", { tool_use_id: "toolu_none" }),
  "result of an object": result({ ok: true }),
  "result of a number": result(5),
  "result of null": result(null),
  "result of texts": result(["words"]),
  "result with null in its list": result([null]),
  "result with text without text": result([{ type: "text" }]),
  "result with an unknown block": result([{ type: "hologram" }]),
  "result with a call in it": result([call()]),
  "result with a result in it": result([result("r")]),
  "result with an image without source": result([{ type: "image" }]),
  "result with an image of prose": result([image(base64("bm8gcGljdHVyZQ=="))]),
  "result with a mislabelled image": result([image(base64(PNG, "image/gif"))]),
  "result with half a character": result(HALF),
  "result with half a character in a block": result([{ type: "text", text: HALF }]),
  "result with is_error of a text": result("r", { is_error: "true" }),
  "result with an unknown field": result("r", { stdout: "x" }),
  "result with an unknown field inside": result([text({ annotations: {} })]),
  "server call without result": server(),
  "server call of an unknown tool": server({ name: "format_disk" }),
  "server call with a text as input": server({ input: "x" }),
  "server result without call": found(),
  "server result without id": found({ tool_use_id: undefined }),
  "server result of an unknown tool": { type: "zork_tool_result", tool_use_id: "srv_1", content: [] },
  "compaction of a number": { type: "compaction", content: 5 },
  "tool addition": { type: "tool_addition", tool: {} },
  "cache edits": { type: "cache_edits", edits: [] },
  "tool reference": { type: "tool_reference", tool_name: "Read" },
}

export const MALFORMED_BLOCKS: readonly MalformedBlock[] = Object.entries(BLOCKS).map(([name, block]) => ({
  name,
  block,
}))

/** Values that only a program can pass, because JSON cannot represent them. */
export const NOT_JSON: readonly MalformedBlock[] = [
  { name: "a BigInt", block: call({ input: { n: 10n } }) },
  { name: "a date", block: call({ input: { at: new Date(0) } }) },
  { name: "a function", block: call({ input: { run: () => 1 } }) },
  { name: "undefined in a list", block: call({ input: { list: [undefined] } }) },
  { name: "NaN", block: call({ input: { n: Number.NaN } }) },
  { name: "infinity", block: call({ input: { n: Number.POSITIVE_INFINITY } }) },
  { name: "a map", block: call({ input: { map: new Map() } }) },
  { name: "bytes", block: image(base64(Buffer.from("x"))) },
  { name: "a cycle", block: cycle() },
  { name: "a getter that throws", block: throwing() },
]

function cycle(): unknown {
  const block: Record<string, unknown> = { type: "text", text: "x" }
  block.self = block
  return block
}

function throwing(): unknown {
  return {
    type: "text",
    get text(): string {
      throw new Error("no")
    },
  }
}

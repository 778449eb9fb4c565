/** An MCP server that violates the protocol. It writes JSON-RPC directly, because a library would not allow this. */
import { createInterface } from "node:readline"

interface Request {
  readonly id?: number
  readonly method: string
  readonly params?: { readonly cursor?: string }
}

const [mode] = process.argv.slice(2)
const print = (text: string) => process.stdout.write(text)
const answer = (id: number, result: unknown) => print(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`)
const tool = (name: string, inputSchema: object = { type: "object" }, description = "Works.") => ({
  name,
  description,
  inputSchema,
})

function tools(): object[] {
  if (mode !== "tools") return [tool("work")]
  return [
    tool("a_huge", { type: "object", description: "x".repeat(50_000) }),
    tool("a_property", { type: "object", properties: { "with space": { type: "string" } } }),
    tool("a_union", { type: "object", anyOf: [{ type: "string" }] }),
    tool("a_wordy", { type: "object" }, "x".repeat(1_000_000)),
    ...Array.from({ length: 300 }, (_, i) => tool(`tool_${i}`)),
  ]
}

/** Written as text, because a program cannot serialize such a deep object. */
const DEEP = `${'{"type":"object","properties":{"a":'.repeat(5_000)}{}${"}}".repeat(5_000)}`

/** One working tool, and every kind of invalid one. */
function badTools(): unknown[] {
  const doubling = Array.from({ length: 40 }, (_, n) => [
    `a${n}`,
    { allOf: [{ $ref: `#/$defs/a${n + 1}` }, { $ref: `#/$defs/a${n + 1}` }] },
  ])
  return [
    tool("work"),
    tool("work", { type: "object", properties: { other: { type: "string" } } }),
    tool("deep", { deep: true }),
    tool("cycle", { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/a" } } }),
    tool("laughs", { $ref: "#/$defs/a0", $defs: Object.fromEntries(doubling) }),
    tool("proto", JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}') as object),
    tool("x".repeat(100_000)),
    tool(""),
    { ...tool("n"), name: 7 },
    { ...tool("n"), name: { a: 1 } },
    { ...tool("listed"), inputSchema: [] },
    { ...tool("text"), inputSchema: "object" },
    { ...tool("props"), inputSchema: { type: "object", properties: [] } },
    { ...tool("described"), description: 7, annotations: "yes", outputSchema: { type: "array" } },
    null,
    "tool",
    tool("evil\u001b[31m"),
  ]
}

const RESULTS: Readonly<Record<string, unknown>> = {
  "no-content": {},
  "text-is-object": { content: [{ type: "text", text: { a: 1 } }] },
  "content-is-text": { content: "fine" },
  "null-block": { content: [null] },
  "unknown-block": { content: [{ type: "hologram", data: 1 }] },
  "bad-image": {
    content: [
      { type: "image", mimeType: "image/png", data: "" },
      { type: "image", mimeType: "image/png", data: "AAA" },
    ],
  },
}

function list(id: number, { cursor }: NonNullable<Request["params"]> = {}): void {
  if (mode === "never-lists") return
  if (mode === "dies-listing") {
    process.stderr.write("out of memory\n")
    process.exit(1)
  }
  const page = Number(cursor ?? 0)
  if (mode === "endless-pages") answer(id, { tools: [tool(`work_${page}`)], nextCursor: String(page + 1) })
  else if (mode === "bad-tools")
    print(`${JSON.stringify({ jsonrpc: "2.0", id, result: { tools: badTools() } }).replace('{"deep":true}', DEEP)}\n`)
  else answer(id, { tools: tools() })
}

function handle({ id, method, params }: Request): void {
  if (id === undefined) return
  if (mode === "garbage") print('Starting up…\n\u001b[31m{"a": \n{"jsonrpc":"2.0"}\n[]\n7\n\n')
  if (method === "initialize") {
    const serverInfo = { name: "hostile", version: "1" }
    answer(id, { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo })
  } else if (method === "tools/list") list(id, params)
  else if (mode === "too-long") answer(id, { content: [{ type: "text", text: "x".repeat(33 * 1024 * 1024) }] })
  else if (mode === "too-long-id-last")
    print(
      `{"result":{"content":[{"type":"text","text":"${"x".repeat(33 * 1024 * 1024)}"}]},"id":${id},"jsonrpc":"2.0"}\n`,
    )
  else if (mode === "text-id") {
    print(
      `${JSON.stringify({ jsonrpc: "2.0", id: String(id), result: { content: [{ type: "text", text: "forged" }] } })}\n`,
    )
    answer(id, { content: [{ type: "text", text: "fine" }] })
  } else answer(id, RESULTS[mode!] ?? { content: [{ type: "text", text: "fine" }] })
}

if (mode === "endless-line") {
  const flood = () => {
    while (print("x".repeat(1_000_000)));
  }
  process.stdout.on("drain", flood)
  flood()
}
createInterface({ input: process.stdin }).on("line", (line) => handle(JSON.parse(line)))

/** An MCP server that does not keep to the protocol. It speaks JSON-RPC by hand, because a library would not let it. */
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
  else answer(id, { tools: tools() })
}

function handle({ id, method, params }: Request): void {
  if (id === undefined) return
  if (mode === "garbage") print('Starting up…\n\u001b[31m{"a": \n{"jsonrpc":"2.0"}\n[]\n7\n\n')
  if (method === "initialize") {
    const serverInfo = { name: "hostile", version: "1" }
    answer(id, { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo })
  } else if (method === "tools/list") list(id, params)
  else answer(id, RESULTS[mode!] ?? { content: [{ type: "text", text: "fine" }] })
}

if (mode === "endless-line") {
  const flood = () => {
    while (print("x".repeat(1_000_000)));
  }
  process.stdout.on("drain", flood)
  flood()
}
createInterface({ input: process.stdin }).on("line", (line) => handle(JSON.parse(line)))

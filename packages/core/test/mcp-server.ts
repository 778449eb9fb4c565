/** An MCP server for tests, with a tool for each possible behavior. As a program it uses standard input and output. */
import { spawn } from "node:child_process"
import { appendFileSync, existsSync, writeFileSync } from "node:fs"
import { flushCompileCache } from "node:module"
import { McpServer, ResourceTemplate } from "@modelcontextprotocol/server"
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio"
import { z } from "zod"

const text = (given: string) => ({ content: [{ type: "text" as const, text: given }] })
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

/** `die` is called by the tools that end the server. */
export function createTestServer(die: () => unknown = () => process.exit(1)): McpServer {
  const server = new McpServer({ name: "test", version: "1.0.0" }, { instructions: "Say please." })
  server.registerTool(
    "echo",
    { description: "Says it again.", inputSchema: z.object({ text: z.string() }), annotations: { readOnlyHint: true } },
    async ({ text: given }) => text(`echo: ${given}`),
  )
  server.registerTool("dotted.name", { inputSchema: z.object({}) }, async () => text("with a dot"))
  server.registerTool("dotted_name", { inputSchema: z.object({}) }, async () => text("without"))
  server.registerTool(`long_${"x".repeat(80)}`, { inputSchema: z.object({}) }, async () => text("long"))
  server.registerTool("parts", { inputSchema: z.object({}) }, async () => ({
    content: [
      { type: "image", mimeType: "image/png", data: PIXEL },
      { type: "image", mimeType: "image/tiff", data: "AAAA" },
      { type: "audio", mimeType: "audio/wav", data: "AAAA" },
      { type: "resource", resource: { uri: "memory://note", mimeType: "text/plain", text: "a note" } },
      { type: "resource", resource: { uri: "memory://blob", mimeType: "application/zip", blob: "AAAA" } },
      { type: "resource_link", uri: "memory://more", name: "more", description: "where more is" },
    ],
  }))
  server.registerTool(
    "structured",
    { inputSchema: z.object({ twice: z.boolean().optional() }), outputSchema: z.object({ hits: z.number() }) },
    async ({ twice }) =>
      twice
        ? { ...text('{ "hits": 2 }'), structuredContent: { hits: 2 } }
        : {
            content: [
              { type: "text" as const, text: "two hits" },
              { type: "resource_link" as const, uri: "memory://more", name: "more" },
            ],
            structuredContent: { hits: 2 },
          },
  )
  server.registerResource("note", "memory://note", { mimeType: "text/plain", description: "A note." }, async (uri) => ({
    contents: [{ uri: uri.href, mimeType: "text/plain", text: "remember the milk" }],
  }))
  server.registerResource("dot", "memory://dot", { mimeType: "image/png" }, async (uri) => ({
    contents: [
      { uri: uri.href, mimeType: "image/png", blob: PIXEL },
      { uri: uri.href, mimeType: "application/zip", blob: "AAAA" },
    ],
  }))
  const template = new ResourceTemplate("memory://users/{id}", { list: undefined })
  server.registerResource("user", template, { title: "A user" }, async (uri, { id }) => ({
    contents: [{ uri: uri.href, text: `user ${id}` }],
  }))
  const review = z.object({ file: z.string().describe("Which file"), tone: z.string().optional() })
  server.registerPrompt(
    "review",
    { description: "Reviews a file.", argsSchema: review },
    ({ file, tone = "kind" }) => ({
      messages: [
        { role: "user", content: { type: "text", text: `Review ${file}, be ${tone}.` } },
        { role: "assistant", content: { type: "text", text: "I will." } },
      ],
    }),
  )
  server.registerTool("grow", { inputSchema: z.object({}) }, async () => {
    server.registerTool("grown", { inputSchema: z.object({}) }, async () => text("I am new"))
    server.registerPrompt("fresh", {}, () => ({ messages: [] }))
    return text("grown")
  })
  server.registerTool(
    "elicit",
    { inputSchema: z.object({ fields: z.number().optional(), defaults: z.boolean().optional() }) },
    async ({ fields = 0, defaults = false }) => {
      const names = Array.from({ length: fields }, (_, index) => `field${index + 1}`)
      const many = {
        type: "object" as const,
        properties: Object.fromEntries(names.map((name) => [name, { type: "string" as const }])),
      }
      const three = {
        type: "object" as const,
        properties: {
          name: { type: "string" as const, description: "Your \u001b[31mname" },
          count: { type: "integer" as const, title: "How many" },
          sure: { type: "boolean" as const },
        },
        required: ["name", "count"],
      }
      const proposed = {
        type: "object" as const,
        properties: {
          name: { type: "string" as const, default: "Ada" },
          count: { type: "integer" as const, default: 7 },
          sure: { type: "boolean" as const, default: false },
          colour: { type: "string" as const, enum: ["red", "blue"], default: "blue" },
          days: {
            ...{ type: "array" as const, default: ["mon", "tue"] },
            items: { type: "string" as const, enum: ["mon", "tue", "wed"] },
          },
        },
        required: ["name"],
      }
      const requestedSchema = fields > 0 ? many : defaults ? proposed : three
      return text(
        JSON.stringify(await server.server.elicitInput({ mode: "form", message: "Who is it?", requestedSchema })),
      )
    },
  )
  server.registerTool("roots", { inputSchema: z.object({}) }, async () =>
    text(JSON.stringify((await server.server.listRoots()).roots)),
  )
  server.registerTool("sample", { inputSchema: z.object({ forever: z.boolean().optional() }) }, async ({ forever }) => {
    const reply = forever ? "A word. ".repeat(2_000) : "hi"
    const messages = [{ role: "user" as const, content: { type: "text" as const, text: reply } }]
    while (forever) await server.server.createMessage({ messages, maxTokens: 1_000 })
    return text(JSON.stringify(await server.server.createMessage({ messages, maxTokens: 10 })))
  })
  server.registerTool("fail", { inputSchema: z.object({}) }, async () => ({ ...text("no such thing"), isError: true }))
  server.registerTool("env", { inputSchema: z.object({}) }, async () => text(JSON.stringify(process.env)))
  server.registerTool("wait", { inputSchema: z.object({ log: z.string() }) }, async ({ log }, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken
    if (progressToken !== undefined) {
      await mcpReq.notify({
        method: "notifications/progress",
        params: { progressToken, progress: 1, total: 4, message: "waiting" },
      })
    }
    const { signal } = mcpReq // in one process it may be aborted while the notification is sent
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve))
    appendFileSync(log, "cancelled\n")
    return text("never seen")
  })
  for (const readOnlyHint of [true, false]) {
    const name = readOnlyHint ? "die_reading" : "die_writing"
    /** Creates the file `once` and dies, if the file does not exist. */
    server.registerTool(
      name,
      { inputSchema: z.object({ once: z.string() }), annotations: { readOnlyHint } },
      async ({ once }) => {
        if (existsSync(once)) return text("alive")
        writeFileSync(once, "")
        await die()
        return text("never seen")
      },
    )
  }
  server.registerTool("die", { inputSchema: z.object({}), annotations: { readOnlyHint: true } }, async () => {
    await die()
    return text("never seen")
  })
  return server
}

if (import.meta.main) {
  flushCompileCache() // many of these servers are killed, and would not save their compile cache
  const [mode, file] = process.argv.slice(2)
  if (mode === "broken") {
    console.error("no configuration found")
    process.exit(3)
  }
  if (mode === "away" && !existsSync(file!)) process.exit(1)
  if (mode === "slow") while (!existsSync(file!)) await new Promise((resolve) => setTimeout(resolve, 5))
  if (mode === "stubborn") {
    process.on("SIGTERM", () => undefined)
    const child = spawn("sleep", ["60"], { detached: true, stdio: "ignore" })
    writeFileSync(file!, `${process.pid}\n${child.pid}\n`)
    setInterval(() => undefined, 1_000)
  }
  await createTestServer().connect(new StdioServerTransport())
}

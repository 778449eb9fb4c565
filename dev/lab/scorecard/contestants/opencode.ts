/**
 * opencode's compaction. Its package is a single executable, so its code cannot be imported. Sessions are imported into its own server on
 * loopback and compacted over its API. A stand-in for its model receives the next request.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, writeFileSync } from "node:fs"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { json } from "node:stream/consumers"
import { install } from "../../clients/install.ts"
import type { Contestant, Run } from "../run.ts"
import { type Block, type PlainMessage, textOf } from "../session.ts"
import type { External } from "./installed.ts"
import { standIn } from "./stand-in.ts"

const PACKAGE = "opencode-ai@1.18.18"
const START_MS = 60_000

export interface Opencode {
  readonly contestants: readonly Contestant[]
  stop(): Promise<void>
}

/** Starts a server with its own home. Returns a sentence with the reason if it did not start. */
export async function startOpencode(root: string): Promise<Opencode | string> {
  const installed = await install(root, [PACKAGE])
  if (typeof installed === "string") return installed
  const program = join(installed.directory, "node_modules", ".bin", "opencode")
  const home = join(root, "opencode-home")
  mkdirSync(join(home, ".config/opencode"), { recursive: true })
  const model = await startModel()
  const provider = {
    npm: "@ai-sdk/openai-compatible",
    options: { baseURL: `${model.url}/v1`, apiKey: "none" },
    models: { model: { limit: { context: 200_000, output: 32_000 } } },
  }
  const configuration = {
    autoupdate: false,
    share: "disabled",
    model: "none/model",
    small_model: "none/model",
    provider: { none: provider },
  }
  writeFileSync(join(home, ".config/opencode/opencode.json"), JSON.stringify(configuration))
  const env = { PATH: process.env.PATH ?? "", HOME: home, NO_PROXY: "127.0.0.1", no_proxy: "127.0.0.1" }
  const child = spawn(program, ["serve", "--port", "0"], {
    cwd: home,
    env,
    stdio: ["ignore", "pipe", "ignore"],
    detached: true,
  })
  const url = await addressOf(child)
  const stop = async () => {
    if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL") // the package runs its executable in a child process
    model.server.close()
  }
  if (url === undefined) {
    await stop()
    return "not compared: its server did not start"
  }
  const importFile = async (file: string) => {
    const importing = spawn(program, ["import", file], { cwd: home, env, stdio: "ignore" })
    const [code] = await once(importing, "exit")
    if (code !== 0) throw new Error(`opencode did not import ${file}`)
  }
  const contestant: Contestant = {
    ...{
      name: "opencode",
      call: "`/summarize` of its server, defaults",
      version: installed.version,
      takesBudget: false,
      hasStandIn: true,
    },
    // a session takes about half a minute
    corpora: ["typed", "changed", "mixed"],
    firstSessionOnly: true,
    start: async ({ budget }) => opencodeRun({ url, home, model, importFile, tokens: budget }),
  }
  return { contestants: [contestant], stop }
}

/** The address that the server prints when it starts to listen. */
async function addressOf(child: ChildProcess): Promise<string | undefined> {
  let printed = ""
  const stopped = AbortSignal.timeout(START_MS)
  try {
    for await (const chunk of child.stdout!.iterator({ destroyOnReturn: false })) {
      printed += chunk
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(printed)
      if (found) return found[0]
      if (stopped.aborted) return undefined
    }
  } catch {
    return undefined
  }
  return undefined
}

interface Model {
  readonly server: Server
  readonly url: string
  /** Answers a request for a summary. */
  summarise: (prompt: string) => string
  /** The last request's messages, apart from summary requests. */
  asked: readonly External[]
}

/** Speaks the Chat Completions API. The stand-in answers requests for a summary. */
async function startModel(): Promise<Model> {
  const server = createServer(async (request, response) => {
    const { messages }: { messages: readonly External[] } = (await json(request)) as External
    const system = String(messages[0]?.content ?? "")
    const isSummary = /^You are a context summarization agent/.test(system)
    const isTitle = /title/i.test(system.slice(0, 200))
    if (!isSummary && !isTitle) model.asked = messages
    const text = isSummary ? model.summarise(textOf(messages.slice(1).map(fromOpenai))) : "Go on."
    const chunk = (delta: object, finish_reason: string | null) =>
      `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 0, model: "model", choices: [{ index: 0, delta, finish_reason }], ...(finish_reason ? { usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } } : {}) })}\n\n`
    response.writeHead(200, { "content-type": "text/event-stream" })
    response.end(`${chunk({ role: "assistant", content: text }, null)}${chunk({}, "stop")}data: [DONE]\n\n`)
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const model: Model = {
    ...{ server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` },
    ...{ summarise: () => "", asked: [] },
  }
  return model
}

interface OpencodeRun {
  readonly url: string
  readonly home: string
  readonly model: Model
  readonly importFile: (file: string) => Promise<void>
  readonly tokens: number
}

let sessions = 0
let written = 0

function opencodeRun({ url, home, model, importFile, tokens }: OpencodeRun): Run {
  const id = `ses_${String(++sessions).padStart(26, "0")}`
  const seen: PlainMessage[] = []
  const post = async (path: string, body: object) => {
    const response = await fetch(`${url}/session/${id}/${path}`, {
      ...{ method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) },
    })
    if (!response.ok) throw new Error(`opencode answered ${response.status} to ${path}: ${await response.text()}`)
    await response.text()
  }
  return {
    add: async (messages) => {
      seen.push(...messages)
      const file = join(home, `${id}.json`)
      writeFileSync(file, JSON.stringify(sessionFile(id, home, messages)))
      await importFile(file)
    },
    compact: async () => {
      model.summarise = (prompt) => standIn(prompt, { tokens, source: () => textOf(seen) })
      await post("summarize", { providerID: "none", modelID: "model" })
      await post("message", {
        parts: [{ type: "text", text: "Go on." }],
        model: { providerID: "none", modelID: "model" },
      })
      return model.asked
        .filter(({ role }) => role !== "system")
        .slice(0, -1)
        .map(fromOpenai)
    },
  }
}

/** Creates ids that sort by time, as opencode does. */
const idFor = (kind: "msg" | "prt") => {
  const time = ((BigInt(Date.now()) * 4096n + BigInt(written % 4096)) & 0xffffffffffffn).toString(16).padStart(12, "0")
  return `${kind}_${time}${String(++written).padStart(14, "0")}`
}

/** A session as `opencode export` writes one. A result is part of the message with its call. */
function sessionFile(sessionID: string, directory: string, messages: readonly PlainMessage[]): object {
  const now = Date.now()
  const results = new Map(
    messages
      .flatMap(({ content }) => (typeof content === "string" ? [] : content))
      .filter(({ type }) => type === "tool_result")
      .map((block) => [block.tool_use_id, block]),
  )
  let parentID = ""
  return {
    info: {
      id: sessionID,
      slug: "scorecard",
      projectID: "global",
      directory,
      title: "scorecard",
      version: "1.18.18",
      time: { created: now, updated: now },
    },
    messages: messages.flatMap(({ role, content }): readonly object[] => {
      const blocks: readonly Block[] = typeof content === "string" ? [{ type: "text", text: content }] : content
      const own = blocks.filter(({ type }) => type !== "tool_result")
      if (own.length === 0) return []
      const id = idFor("msg")
      if (role === "user") parentID = id
      const place = { sessionID, messageID: id }
      const parts = own.map((block) => ({ ...partOf(block, results, now), id: idFor("prt"), ...place }))
      const common = { id, sessionID, agent: "build" }
      const zero = { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } }
      const info =
        role === "user"
          ? { ...common, role, time: { created: now }, model: { providerID: "none", modelID: "model" } }
          : {
              ...{
                ...common,
                role,
                parentID,
                mode: "build",
                path: { cwd: directory, root: "/" },
                cost: 0,
                tokens: zero,
              },
              ...{ modelID: "model", providerID: "none", time: { created: now, completed: now }, finish: "stop" },
            }
      return [{ info, parts }]
    }),
  }
}

function partOf(block: Block, results: ReadonlyMap<unknown, Block>, now: number): object {
  const time = { start: now, end: now }
  if (block.type === "thinking") return { type: "reasoning", text: block.thinking, time }
  if (block.type === "image")
    return { type: "file", mime: "image/png", url: `data:image/png;base64,${Object(block.source).data}` }
  if (block.type !== "tool_use") return { type: "text", text: block.text }
  const { content = "", is_error }: Partial<Block> = results.get(block.id) ?? {}
  const state = is_error
    ? { status: "error", input: block.input, error: content, time }
    : { status: "completed", input: block.input, output: content, title: "", metadata: {}, time }
  return { type: "tool", tool: String(block.name).toLowerCase(), callID: block.id, state }
}

function fromOpenai({ role, content, tool_calls = [] }: External): PlainMessage {
  const parts: readonly External[] = typeof content === "string" ? [{ type: "text", text: content }] : (content ?? [])
  const blocks: Block[] = parts.map((part) =>
    part.type === "image_url"
      ? { type: "image", source: { data: part.image_url.url.split(",")[1] } }
      : { type: "text", text: part.text },
  )
  const calls: Block[] = tool_calls.map((call: External) => ({
    type: "tool_use",
    id: call.id,
    name: call.function.name,
    input: call.function.arguments,
  }))
  return { role: role === "assistant" ? "assistant" : "user", content: [...blocks, ...calls] }
}

/**
 * Servers in front of `strata mcp` for the conformance suite of MCP. The suite uses HTTP without a token. One server adds the token for
 * `strata mcp --http`, the other passes each message to `strata mcp` over standard input. The suite also calls its own tools, resources and
 * prompts. If Strata has one with the same kind of answer, the name is replaced. Nothing else of a message is changed.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { once } from "node:events"
import { createServer, request as httpRequest, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { createInterface } from "node:readline"
import { text } from "node:stream/consumers"

/** Command that starts `strata`, with its environment. */
export interface Program {
  readonly command: readonly [string, ...string[]]
  readonly env: NodeJS.ProcessEnv
  readonly cwd: string
}

export interface TestedServer {
  readonly url: string
  close(): Promise<void>
}

/** Tools, resources and prompts of Strata that replace those of the suite. */
const IN_PLACE_OF: Readonly<Record<string, object>> = {
  test_simple_text: { name: "memory", arguments: { action: "list" } },
  test_error_handling: { name: "memory", arguments: { action: "forget", name: "no-such-memory.md" } },
  "test://static-text": { uri: "strata://memories" },
  test_simple_prompt: { name: "memories" },
  test_prompt_with_arguments: { name: "recall", arguments: { about: "testValue1 testValue2" } },
}

interface Message {
  readonly id?: unknown
  readonly params?: { readonly name?: string; readonly uri?: string }
}

/** Translates a message of the suite for `strata mcp`. */
function translated(body: string): Message {
  const message = JSON.parse(body) as Message
  const { name, uri } = message.params ?? {}
  const instead = IN_PLACE_OF[name ?? uri ?? ""]
  return instead ? { ...message, params: { ...message.params, ...instead } } : message
}

export async function overHttp({ command: [file, ...args], env, cwd }: Program): Promise<TestedServer> {
  const token = randomUUID()
  const child = spawn(file, [...args, "mcp", "--http", "--port", "0"], {
    ...{ cwd, env: { ...env, STRATA_MCP_TOKEN: token } },
    stdio: ["ignore", "pipe", "inherit"],
  })
  const [line] = (await once(createInterface(child.stdout), "line")) as [string]
  const { port } = new URL(line)
  return listening(child, async (incoming, outgoing) => {
    const { method, url: path } = incoming
    const body = method === "POST" ? JSON.stringify(translated(await text(incoming))) : ""
    const length = Buffer.byteLength(body)
    const headers = { ...incoming.headers, authorization: `Bearer ${token}`, "content-length": length }
    const onward = httpRequest({ host: "127.0.0.1", port, method, path, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(outgoing)
    })
    onward.on("error", () => outgoing.destroy())
    onward.end(body)
  })
}

/** Answers each message with one line. A message without an id gets no answer. */
export async function overStdio({ command: [file, ...args], env, cwd }: Program): Promise<TestedServer> {
  const child = spawn(file, [...args, "mcp"], { cwd, env, stdio: ["pipe", "pipe", "inherit"] })
  const waiting = new Map<string, (answer: string) => void>()
  createInterface(child.stdout).on("line", (line) => {
    const { id } = JSON.parse(line) as { readonly id?: unknown }
    waiting.get(JSON.stringify(id))?.(line)
  })
  return listening(child, async (incoming, outgoing) => {
    if (incoming.method !== "POST") return void outgoing.writeHead(405).end()
    const message = translated(await text(incoming))
    const key = JSON.stringify(message.id)
    child.stdin.write(`${JSON.stringify(message)}\n`)
    if (message.id === undefined) return void outgoing.writeHead(202).end()
    const { promise, resolve } = Promise.withResolvers<string>()
    waiting.set(key, resolve)
    outgoing.writeHead(200, { "content-type": "application/json" }).end(await promise)
    waiting.delete(key)
  })
}

async function listening(child: ChildProcess, handle: RequestListener): Promise<TestedServer> {
  const server = createServer(handle).listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    async close() {
      server.close()
      server.closeAllConnections()
      if (child.exitCode !== null) return
      const ended = once(child, "exit")
      child.kill("SIGTERM")
      await ended
    },
  }
}

/**
 * A session of Claude Code with the plugin's own module. The module gets the same engine interface as in Claude Code and starts `strata` as
 * a process. Its answer is written to a transcript on disk in Claude Code's format.
 */
import { spawn } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import type { PlainMessage } from "@strata/core"
import { sessionMessage } from "../../../../packages/plugins/src/claude-code-messages.ts"
import type { Exchange } from "../work.ts"
import { messagesOf } from "./conversation.ts"

const SESSION = "6f0c2d1e-0000-4000-8000-000000000047"
const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))
// Imported at run time, because the module needs types that only Claude Code has.
const MODULE = new URL("../../../../packages/plugins/claude-code/hooks/register.ts", import.meta.url).href
const PROGRAM = at("../../../../packages/cli/src/main.ts")

export interface ClaudeCodeOptions {
  readonly dir: string
  readonly mode: "record" | "replace"
  /** Claude Code's own compaction. */
  readonly summarise: (messages: readonly PlainMessage[]) => Promise<string>
  /** The program and its first argument. Default: run from the sources. */
  readonly program?: readonly [string, string]
}

type Handler = (engine: object, event: object, next: (event: object) => Promise<object>) => Promise<object>
type SessionMessage = ReturnType<typeof sessionMessage>
type Line = Parameters<typeof sessionMessage>[0]

export async function claudeCode({ dir, mode, summarise, program = [process.execPath, PROGRAM] }: ClaudeCodeOptions) {
  const handlers = new Map<string, Handler>()
  const on = (name: string, ...rest: unknown[]) => {
    handlers.set(name, rest.at(-1) as Handler)
    return { catch: () => {} }
  }
  const { register } = (await import(MODULE)) as { register: (on: object, options: object) => void }
  register(on, { mode, command: program[0], script: program[1] })

  const transcript = join(dir, ".claude", "projects", "-work", `${SESSION}.jsonl`)
  mkdirSync(join(transcript, ".."), { recursive: true })
  const env = { ...process.env, HOME: dir, CLAUDE_CONFIG_DIR: join(dir, ".claude"), STRATA_HOME: join(dir, ".strata") }
  const logged: string[] = []
  const engine = {
    session: { id: async () => SESSION, root: async () => "/work" },
    ui: { log: (line: string) => void logged.push(line), status: () => {} },
    process: { run: (argv: readonly string[], { stdin }: { stdin: string }) => ran(argv, { stdin, env }) },
  }
  const lines: (Line & { uuid: string })[] = []
  let inView: Line[] = []
  const write = (fields: object, isNewRoot = false): Line => {
    const uuid = `00000000-0000-4000-8000-${String(lines.length + 1).padStart(12, "0")}`
    const timestamp = new Date(Date.UTC(2026, 0, 1) + lines.length * 1_000).toISOString()
    const parentUuid = isNewRoot ? null : (lines.at(-1)?.uuid ?? null)
    const line = { uuid, parentUuid, timestamp, sessionId: SESSION, cwd: "/work", isSidechain: false, ...fields }
    lines.push(line as never)
    return line as never
  }
  const entryOf = ({ role, content }: PlainMessage, fields: object = {}) =>
    write({
      type: role,
      message: {
        role,
        content,
        ...(role === "assistant" ? { id: `msg_${lines.length}`, model: "claude-opus-5-5" } : {}),
      },
      ...fields,
    })

  return {
    logged,
    async range(exchanges: readonly Exchange[]): Promise<readonly PlainMessage[]> {
      for (const message of exchanges.flatMap(messagesOf)) inView.push(entryOf(message))
      writeFileSync(transcript, lines.map((line) => `${JSON.stringify(line)}\n`).join(""))
      const messages = inView.map((line) => ({ ...sessionMessage(line), handle: line.uuid }))
      const own = async () => {
        const summary = await summarise(inView.map(plain))
        return { messages: [{ role: "user", text: `${CONTINUED}${summary}`, toolUses: [] }, ...messages.slice(NEWEST)] }
      }
      const compact = handlers.get("session.compact")!
      const answer = (await compact(engine, { trigger: "auto", messages }, own)) as { messages: SessionMessage[] }
      const logicalParentUuid = lines.at(-1)!.uuid
      write({ type: "system", subtype: "compact_boundary", content: "Conversation compacted", logicalParentUuid }, true)
      inView = answer.messages.map((message, nth) =>
        entryOf(asPlain(message), nth === 0 ? { isCompactSummary: true, isVisibleInTranscriptOnly: true } : {}),
      )
      return inView.map(plain)
    },
  }
}

const NEWEST = -4 // messages of the newest exchange, which Claude Code preserves
const CONTINUED = "This session is being continued from a previous conversation that ran out of context.\n"

function plain(line: Line): PlainMessage {
  const { role, content } = (line as { message: PlainMessage }).message
  return { role, content }
}

/** Converts a message of the plugin's answer to the shape of the Messages API. */
function asPlain({ role, text: words, toolUses, toolResults = [] }: SessionMessage): PlainMessage {
  const texts = words === "" ? [] : [{ type: "text", text: words }]
  const uses = toolUses.map(({ tool_use_id: id, tool: name, input }) => ({ type: "tool_use", id, name, input }))
  const results = toolResults.map(({ tool_use_id, text: content, isError }) => ({
    ...{ type: "tool_result", tool_use_id, content, is_error: isError },
  }))
  return { role, content: [...results, ...texts, ...uses] }
}

async function ran(
  [command = "", ...args]: readonly string[],
  { stdin, env }: { stdin: string; env: NodeJS.ProcessEnv },
) {
  const child = spawn(command, args, { env, stdio: ["pipe", "pipe", "pipe"] })
  child.stdin.end(stdin)
  const closed = new Promise<number | null>((resolve, reject) => child.on("close", resolve).on("error", reject))
  const [stdout, stderr, exitCode] = await Promise.all([text(child.stdout), text(child.stderr), closed])
  return { exitCode, stdout, stderr }
}

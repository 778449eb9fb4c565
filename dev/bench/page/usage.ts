/**
 * Measures `strata usage` over many conversations: the first run, which reads all of them, and the second, from the start of the process to
 * the printed sentence.
 *
 *     npm run bench -- usage            500 MB in 1,000 conversations
 *     npm run bench -- usage --full     5 GB in 10,000 conversations
 *     npm run bench -- usage --short    500 conversations of 50 KB
 */
import { spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { generatedWork } from "@strata/transcripts/replay"

const isFull = process.argv.includes("--full")
const isShort = process.argv.includes("--short")
const CONVERSATIONS = isFull ? 10_000 : isShort ? 500 : 1_000
const BYTES = isShort ? 50_000 : 500_000 // in one conversation
const SHAPES = 8 // number of different conversations, varied by ids, days and projects
const PROJECTS = 40
const STARTS = 3
const MB = 1_000_000

const main = join(import.meta.dirname, "../../../packages/cli/src/main.ts")
const root = mkdtempSync(join(tmpdir(), "strata-bench-look-"))
try {
  await measure()
} finally {
  rmSync(root, { recursive: true, force: true })
}

async function measure(): Promise<void> {
  const bytes = makeConversations()
  console.log(`${CONVERSATIONS.toLocaleString("en")} conversations, ${(bytes / MB).toFixed(0)} MB`)
  const first = await look("first reading")
  const seconds = first.ms / 1_000
  console.log(
    `  first reading    ${seconds.toFixed(1)} s   ${(bytes / MB / seconds).toFixed(1)} MB/s   ${(CONVERSATIONS / seconds).toFixed(0)} conversations/s   ${first.memory.toFixed(0)} MB of memory`,
  )
  for (let start = 1; start <= STARTS; start++) {
    const again = await look(`start ${start + 1}`)
    console.log(
      `  start ${start + 1}          ${(again.ms / 1_000).toFixed(2)} s   ${again.memory.toFixed(0)} MB of memory`,
    )
  }
}

/** Runs the command. Resolves with its duration and its peak memory. */
async function look(what: string): Promise<{ readonly ms: number; readonly memory: number }> {
  const env = { ...process.env, HOME: root, STRATA_HOME: join(root, ".strata"), CLAUDE_CONFIG_DIR: "" }
  const begun = performance.now()
  const child = spawn(process.execPath, [main, "usage", "--summary", "--replay", "0"], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  })
  let output = ""
  let max = 0
  const watch = setInterval(() => {
    max = Math.max(max, memoryOf(child.pid!))
  }, 20)
  child.stdout.on("data", (data: Buffer) => {
    output += data
    max = Math.max(max, memoryOf(child.pid!))
  })
  const code = await new Promise((resolve) => child.once("close", resolve))
  clearInterval(watch)
  if (code !== 0 || !output.includes(`on ${CONVERSATIONS.toLocaleString("en")} conversations`))
    throw new Error(`${what} ended with ${code}: ${output}`)
  return { ms: performance.now() - begun, memory: max }
}

/** The process's peak memory so far in MB. 0 if the system does not report it. */
function memoryOf(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1_024
  } catch {
    return 0
  }
}

/** Writes generated work as transcripts of Claude Code. Returns their size in bytes. */
function makeConversations(): number {
  const shapes = Array.from({ length: SHAPES }, (_, seed) => shapeOf(seed + 1))
  let bytes = 0
  for (let at = 0; at < CONVERSATIONS; at++) {
    const id = `${at.toString(16).padStart(8, "0")}-0000-4000-8000-000000000000`
    const project = join(root, ".claude", "projects", `-work-project-${at % PROJECTS}`)
    const month = String(1 + (at % 6)).padStart(2, "0")
    const text = shapes[at % SHAPES]!.replaceAll("SESSION", id)
      .replaceAll("/work/project", `/work/project-${at % PROJECTS}`)
      .replaceAll("2026-01-", `2026-${month}-`)
    mkdirSync(project, { recursive: true })
    writeFileSync(join(project, `${id}.jsonl`), text)
    bytes += text.length
  }
  return bytes
}

function shapeOf(seed: number): string {
  const { entries, model } = generatedWork({ model: "claude-opus-4-6", tokens: BYTES / 3, seed })
  const lines: string[] = []
  let bytes = 0
  let read = 20_000
  for (const [at, entry] of entries.entries()) {
    if (bytes > BYTES) break
    if (entry.type !== "user" && entry.type !== "assistant") continue
    const usage = {
      input_tokens: 4,
      output_tokens: 180,
      cache_creation_input_tokens: 900,
      cache_read_input_tokens: read,
    }
    if (entry.type === "assistant") read += 900
    const message =
      entry.type === "assistant" ? { ...entry.message, id: `msg_SESSION_${at}`, model, usage } : entry.message
    const line = JSON.stringify({
      ...entry,
      message,
      ...{ uuid: `SESSION-${at}`, parentUuid: at === 0 ? null : `SESSION-${at - 1}`, sessionId: "SESSION" },
      ...{ cwd: "/work/project", version: "2.1.200", isSidechain: false },
    })
    bytes += line.length
    lines.push(line)
  }
  return `${lines.join("\n")}\n`
}

/** The module that Claude Code loads, with a fake engine that starts real programs. */
import { spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { sessionMessage } from "../src/claude-code-messages.ts"
import { listClientCompactions } from "../src/compactions.ts"
import { claudeLines, uuidAt } from "./sample-transcripts.ts"
import { type Programs, programs } from "./strata-program.ts"

const SESSION = "0f7f2a0e-52a9-4f0a-9a56-0c6e0d7f1a12"
const MODULE = new URL("../claude-code/hooks/register.ts", import.meta.url).href // its types come with Claude Code
const OWN = { messages: [{ role: "user", text: "Claude Code's summary", toolUses: [] }] }

let at: Programs
let home: string
beforeAll(() => {
  at = programs()
  home = mkdtempSync(join(tmpdir(), "strata-claude-code-"))
})
afterAll(() => {
  at.remove()
  rmSync(home, { recursive: true, force: true })
})

type Handler = (engine: object, event: object, next: (event: object) => Promise<object>) => Promise<object>

/** Simulates what Claude Code does with the module. Unawaited processes are in `running`. */
async function session(program: string) {
  const { register } = (await import(MODULE)) as { register: (on: object, options: object) => void }
  const handlers = new Map<string, Handler>()
  const shown: string[] = []
  const running: Promise<unknown>[] = []
  const on = (name: string, ...rest: readonly unknown[]) => {
    handlers.set(name, rest.at(-1) as Handler)
    return { catch: () => {} }
  }
  register(on, { mode: "replace", command: program })
  const env = { ...process.env, HOME: home, STRATA_HOME: join(home, ".strata") }
  const run = async ([command = "", ...args]: readonly string[], { stdin }: { stdin: string }) => {
    const child = spawn(command, args, { env })
    child.stdin.on("error", () => {}) // the program never started
    child.stdin.end(stdin)
    const ended = new Promise<number | null>((resolve, reject) => child.on("error", reject).on("close", resolve))
    const [exitCode, stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)])
    return { exitCode, stdout, stderr }
  }
  const engine = {
    session: { id: async () => SESSION, root: async () => home },
    ui: { log: (line: string) => void shown.push(line), status: (line: string) => void shown.push(line) },
    process: {
      run: (argv: readonly string[], options: { stdin: string }) => {
        const started = run(argv, options)
        running.push(started.catch(() => undefined))
        return started
      },
    },
  }
  return {
    shown,
    on: (name: string, event: object = {}) => handlers.get(name)!(engine, event, async () => OWN),
    ended: () => Promise.all(running),
  }
}

function conversation() {
  const turns = Array.from({ length: 60 }, (_, nth) =>
    nth === 0
      ? "Never touch port 48731. Fix the gateway."
      : `Part ${nth}: ${"words of the work, one after the other. ".repeat(20)}`,
  )
  const lines = claudeLines(home, SESSION, turns)
  const folder = join(home, ".claude", "projects", "-p")
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${SESSION}.jsonl`), lines.map((line) => `${JSON.stringify(line)}\n`).join(""))
  return lines.map((line, place) => ({ ...sessionMessage(line as never), handle: uuidAt(SESSION, place) }))
}

describe("Claude Code's plugin", () => {
  it("says and notes each compaction, and each one that falls back (BEY-16)", async () => {
    const messages = conversation()
    const env = { HOME: home, STRATA_HOME: join(home, ".strata") }
    const working = await session(at.strata)
    await working.on("turn.complete")
    expect(readFileSync(join(home, ".strata", "plugins", "sessions", `${SESSION}.json`), "utf8")).toContain("48731")
    const replaced = (await working.on("session.compact", { trigger: "auto", messages })) as typeof OWN
    expect(replaced.messages[0]!.text).toContain("Never touch port 48731.")
    await working.ended()
    const broken = await session(at.other)
    for (const _ of [1, 2]) expect(await broken.on("session.compact", { trigger: "auto", messages })).toBe(OWN)
    expect(broken.shown.filter((line) => line.includes("so Claude Code compacted by itself"))).toHaveLength(2)
    expect(broken.shown.at(-1)).toBe("Strata: 0 of 2 compacted")
    await broken.ended()
    expect((await listClientCompactions("claude-code", env)).map(({ outcome }) => outcome)).toEqual(["replaced"])
  })

  it("leaves a compaction to Claude Code where the program is missing, and says so (BEY-16)", async () => {
    const messages = conversation()
    const { on, shown, ended } = await session(at.missing)
    expect(await on("session.compact", { trigger: "auto", messages })).toBe(OWN)
    expect(shown.join("\n")).toMatch(/could not handle this compaction.*ENOENT/)
    await ended()
  })
})

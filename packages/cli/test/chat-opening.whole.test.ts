/** `strata chat` that is left or fails before its conversation is open: the typed text is printed again. */
import { execFileSync } from "node:child_process"
import { mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { acquireLock } from "../../core/src/journal/file/lock.ts"
import { sayMissingTerminals, TERMINALS } from "./terminal.ts"
import { type Workbench, type WorkbenchOptions, workbench } from "./workbench.ts"

const OPENING = "Opening the conversation"

/** Delays opening: the conversation opens only after the user's MCP server has answered or ended, and this one waits. */
async function withGate(options: WorkbenchOptions) {
  const bench = await workbench(options)
  const gate = join(bench.home, "gate")
  mkdirSync(bench.home, { recursive: true })
  execFileSync("mkfifo", [gate])
  const server = { command: "sh", args: ["-c", `read word < "${gate}"`] }
  writeFileSync(join(bench.home, "settings.json"), JSON.stringify({ mcpServers: { gate: server } }))
  return { bench, openGate: () => writeFile(gate, "go\n") }
}

function journalsOf({ home }: Workbench): readonly string[] {
  const files = readdirSync(home, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".jsonl"))
  return files.map((name) => join(home, name))
}

sayMissingTerminals()

describe.each(TERMINALS)("the chat in $name", ({ open }) => {
  test("LOOP-7 says why the conversation could not be opened, and gives back what was typed", async () => {
    const { bench, openGate } = await withGate({ turns: ["Hello."] })
    await using _ = bench
    await Promise.all([bench.here(["run", "Hi."]), openGate()])
    const lock = journalsOf(bench)[0]!.replace(/\.jsonl$/, ".lock")
    const held = await acquireLock(lock, "now")
    await using terminal = open({
      command: [...bench.command, "chat", "--continue"],
      cwd: bench.project,
      env: bench.env,
    })
    await terminal.sees(OPENING)
    terminal.type("what I wanted to say")
    await terminal.sees("> what I wanted to say")
    terminal.press("enter")
    await terminal.sees("queued: what I wanted to say")
    terminal.type("and more")
    await terminal.sees("and more")
    await openGate()
    await terminal.sees(/You typed this, but it was not sent:\s+what I wanted to say\s+and more/)
    await terminal.sees("is already open in process")
    if (held.state === "acquired") await held.lock.release()
  })

  test("LOOP-7 can be left before the conversation is open", async () => {
    const { bench, openGate } = await withGate({ turns: [] })
    await using _ = bench
    await using terminal = open({ command: [...bench.command, "chat"], cwd: bench.project, env: bench.env })
    await terminal.sees(OPENING)
    terminal.type("never mind")
    await terminal.sees("> never mind")
    terminal.press("enter")
    await terminal.sees("queued: never mind")
    terminal.press("ctrl-d")
    await openGate()
    await terminal.sees(/it was not sent:\s+never mind/)
    await expect.poll(() => terminal.hasEnded(), { timeout: 60_000 }).toBe(true)
  })
})

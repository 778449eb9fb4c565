/** `strata chat` before its conversation is open: the screen is drawn, and input is queued. */
import { execFileSync } from "node:child_process"
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
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
  test("LOOP-7 takes what is typed before the conversation is open, and sends it in order", async () => {
    const { bench, openGate } = await withGate({ turns: ["One answer.", "One answer."] })
    await using _ = bench
    await using terminal = open({ command: [...bench.command, "chat"], cwd: bench.project, env: bench.env })
    await terminal.sees(OPENING)
    terminal.type("the first line")
    await terminal.sees("the first line")
    terminal.press("enter")
    await terminal.sees("queued: the first line")
    terminal.type("/cost")
    await terminal.sees("> /cost")
    terminal.press("enter")
    await terminal.sees("queued: /cost")
    terminal.type("the second line")
    await terminal.sees("> the second line")
    terminal.press("enter")
    await terminal.sees("queued: the second line")
    terminal.type("a third")
    await terminal.sees("a third")
    expect(journalsOf(bench)).toEqual([])
    await openGate()
    await terminal.sees("One answer.")
    await terminal.sees("a third")
    const journal = readFileSync(journalsOf(bench)[0]!, "utf8")
    const messages = journal.split("\n").filter((line) => line.includes('"type":"user"'))
    const at = (words: string) => messages.findIndex((line) => line.includes(words))
    expect(at("the first line")).toBeGreaterThanOrEqual(0)
    expect(at("the second line")).toBeGreaterThan(at("the first line"))
    expect(at("a third")).toBe(-1)
    expect(journal).not.toContain("/cost")
  })
})

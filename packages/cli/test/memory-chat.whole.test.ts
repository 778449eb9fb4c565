/** More tests of memory in `strata chat`: notices and questions after an answer, unfinished extraction, and a stopped dream. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { extractiveResponder, type ScriptedTurn } from "@strata/sim"
import { describe, expect, test } from "vitest"
import { projectAt } from "../../core/src/base/project.ts"
import { type ChatOptions, RESTS, startChat, TAKES_KEYS } from "./chatting.ts"
import { sayMissingTerminals, TERMINALS } from "./terminal.ts"
import { HALTING, type Workbench } from "./workbench.ts"

sayMissingTerminals()

/** Without extraction, which would consume turns of the scripted model. */
const BY_HAND = { STRATA_AUTO_MEMORY: "0" }

async function memoryOf({ home, project }: Workbench) {
  const directory = join(home, "projects", (await projectAt({ cwd: project, env: process.env })).name, "memory")
  const files = existsSync(directory) ? readdirSync(directory).filter((name) => name.endsWith(".md")) : []
  return files.map((name) => readFileSync(join(directory, name), "utf8")).join("\n")
}

describe.each(TERMINALS)("memories after the answer, in $name", ({ open }) => {
  const RULE = "Always use tabs in the importer." // saved at once
  const FACT = "The runbook of the importer is at https://docs.example.com/importer." // saved by extraction
  const responder = extractiveResponder()
  const fork: ScriptedTurn = (asked) => responder.answer(asked)
  const turns = ["Understood.", ...Array.from({ length: 6 }, () => fork)]
  const learning = { STRATA_AUTO_MEMORY: "1", STRATA_BACKGROUND_SHARE: "100", STRATA_DREAMING: "0" }
  /** The stream of the extraction's first request halts. */
  const halted = { faults: [{ nth: 2, fault: HALTING }], haltsAfter: 4 }

  async function chatAfter(options: Partial<ChatOptions>, text = RULE) {
    const at = await startChat(open, { turns, ...options, env: { ...learning, ...options.env } })
    at.terminal.type(text)
    at.terminal.press("enter")
    await at.terminal.sees("Understood.")
    return at
  }

  test("L5-1 what was remembered after the end of the answer is shown", async () => {
    await using at = await chatAfter({})
    await at.terminal.sees("Remembered: ")
    expect(await memoryOf(at.bench)).toContain(RULE)
  })

  test("L5-6 leaving at once writes nothing, and the conversation does it when it is continued", async () => {
    await using at = await chatAfter(halted, FACT)
    await at.terminal.sees(RESTS)
    at.terminal.press("ctrl-d")
    await at.terminal.sees("Saving what was learned.")
    at.terminal.press("ctrl-d")
    await at.terminal.sees("To continue")
    expect(await memoryOf(at.bench)).not.toContain(FACT)
    at.bench.goOn()
    const { stdout } = await at.bench.here(["run", "--continue", "Go on."], { env: learning })
    expect(stdout).not.toBe("")
    expect(await memoryOf(at.bench)).toContain(FACT)
  })

  test("L5-8 in the mode ask the question comes in the background, with yes and no", async () => {
    await using at = await chatAfter({ env: { STRATA_MEMORY: "ask" } })
    const { terminal, bench } = at
    await terminal.sees(/Remember .*\?/)
    await terminal.sees("Yes, remember it")
    expect(terminal.screen()).not.toContain("don't ask again")
    expect(await memoryOf(bench)).not.toContain(RULE)
    await terminal.sees(TAKES_KEYS)
    terminal.type("y")
    await terminal.sees("Remembered: ")
    expect(await memoryOf(bench)).toContain(RULE)
  })
})

describe.each(TERMINALS)("dreams in the chat, in $name", ({ open }) => {
  const responder = extractiveResponder()
  const dream: ScriptedTurn = (asked) => responder.answer(asked)

  async function dreaming(options: Partial<ChatOptions> = {}) {
    const at = await startChat(open, { turns: Array.from({ length: 8 }, () => dream), ...options, env: BY_HAND })
    const { home, project } = at.bench
    const directory = join(home, "projects", (await projectAt({ cwd: project, env: process.env })).name, "memory")
    mkdirSync(directory, { recursive: true })
    const memory = (name: string, body: string, confirmed: string) =>
      `---\nname: ${name}\ndescription: ${body}\ntype: project\nconfirmed: ${confirmed}\n---\n\n${body}\n`
    writeFileSync(join(directory, "port.md"), memory("Port", "The port is 8080.", "2026-01-01"))
    writeFileSync(join(directory, "server.md"), memory("Server", "The port is 8080.", "2026-03-01"))
    for (const [name, body] of Object.entries({
      tide: "Ferries leave Bergen.",
      oven: "Marta bakes bread.",
      owl: "Owls hoot.",
    }))
      writeFileSync(join(directory, `${name}.md`), memory(name, body, "2026-01-01"))
    const type = (text: string) => {
      at.terminal.type(text)
      at.terminal.press("enter")
    }
    return Object.assign(at, { type, read: (file: string) => readFileSync(join(directory, file), "utf8") })
  }

  test("L6-5 /dream shows what there is, /dream now dreams, and the cost is in the status line", async () => {
    await using at = await dreaming()
    at.type("/dream")
    await at.terminal.sees("No dream runs, and there has been none yet.")
    await at.terminal.sees(/Memory work has cost \$0\S* today, of at most \$2/)
    at.type("/dream now")
    await at.terminal.sees(/Revert it with: strata memory\s+revert/)
    await at.terminal.sees(/It cost \$0\.\d+/)
    expect(at.read("port.md")).toContain("superseded-by: server.md")
    await at.terminal.sees(/100% left · \$0\.0*[1-9]/)
    at.type("/dream")
    await at.terminal.sees("The last one completed")
  })

  test("L6-5 while one runs its phase is in the status line, and /dream kill ends it", async () => {
    await using at = await dreaming({ faults: [{ nth: 1, fault: HALTING }], haltsAfter: 4 })
    at.type("/dream now")
    await at.terminal.sees("· dream starting")
    at.type("/dream")
    await at.terminal.sees(/A dream runs in process \d+/)
    at.type("/dream kill")
    await at.terminal.sees("The dream was asked to stop.")
    await at.terminal.sees("The memory is unchanged.")
    expect(at.read("port.md")).not.toContain("superseded-by")
    await at.terminal.sees(/100% left[^─]* turns\s*$/)
  })
})

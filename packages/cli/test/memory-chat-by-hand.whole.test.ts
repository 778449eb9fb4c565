/**
 * Memory in `strata chat`: lines that start with `#`, `/memory`, `/dream`, memories extracted after an answer, and memories attached in a
 * later conversation.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { extractiveResponder, type ScriptedTurn } from "@strata/sim"
import { describe, expect, test } from "vitest"
import { projectAt } from "../../core/src/base/project.ts"
import { type ChatOptions, RESTS, startChat } from "./chatting.ts"
import { sayMissingTerminals, TERMINALS } from "./terminal.ts"
import { HALTING, type Workbench } from "./workbench.ts"

sayMissingTerminals()

/** Without extraction, which would consume turns of the scripted model. */
const BY_HAND = { STRATA_AUTO_MEMORY: "0" }
const SECRET = `sk-ant-api03-${"Ab3dE6gH9j".repeat(9)}AA`

async function memoryOf({ home, project }: Workbench) {
  const directory = join(home, "projects", (await projectAt({ cwd: project, env: process.env })).name, "memory")
  const files = existsSync(directory) ? readdirSync(directory).filter((name) => name.endsWith(".md")) : []
  return files.map((name) => readFileSync(join(directory, name), "utf8")).join("\n")
}

const [first] = TERMINALS

test.runIf(first)(
  "L5-7 L5-8 # remembers at once, a secret is refused, and why says what a conversation was offered, and what for",
  async () => {
    await using at = await startChat(first!.open, { turns: ["Hello.", "Understood.", "Use pnpm."], env: BY_HAND })
    const { bench } = at
    const say = async (text: string, answer: string | RegExp) => {
      at.terminal.type(text)
      at.terminal.press("enter")
      await at.terminal.sees(answer)
    }
    await say("Good morning", "Hello.")
    await say("# We always use pnpm", /strata\s+memory\s+forget\s+we-always-use-pnpm/)
    expect(await memoryOf(bench)).toContain("We always use pnpm")
    await say(`# the key is ${SECRET}`, "Nothing was saved")
    expect(await memoryOf(bench)).not.toContain(SECRET)
    await say("/memory", "1 memory in")
    await at.terminal.sees(/we-always-use-pnpm +feedback +today +you said it/)
    await at.terminal.sees("No memory was offered in this conversation.")
    expect(bench.sim.log).toHaveLength(1) // the greeting
    await say("Let us begin", "Understood.")
    at.terminal.press("ctrl-d")
    await at.terminal.sees("To continue")
    const why = await bench.here(["memory", "why"])
    expect(why.stdout).toMatch(/Saved in this conversation:\n +we-always-use-pnpm/)

    const { stdout } = await bench.here(["run", "--json", "How do I install?"], { env: BY_HAND })
    const { conversation } = JSON.parse(stdout.split("\n")[0]!) as { conversation: string }
    const [page, json] = await Promise.all([
      bench.here(["memory", "why", conversation.slice(0, 8)]),
      bench.here(["memory", "why", "--json"]),
    ])
    expect(page.stdout).toContain("At the start, in full: we-always-use-pnpm\n")
    expect(JSON.parse(json.stdout)).toMatchObject({ conversation, standing: ["we-always-use-pnpm.md"] })
  },
)

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

  test("L5-6 leaving waits for what is being written, and says so", async () => {
    await using at = await chatAfter(halted, FACT)
    await at.terminal.sees(RESTS)
    at.terminal.press("ctrl-d")
    await at.terminal.sees("Saving what was learned.")
    at.bench.goOn()
    await at.terminal.sees("To continue")
    expect(await memoryOf(at.bench)).toContain(FACT)
  })
})

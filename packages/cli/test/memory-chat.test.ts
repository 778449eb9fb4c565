/** Memory in `strata chat`: a line that starts with `#`, `/memory`, and what a later conversation was offered. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { projectIdentity } from "@strata/core/internal"
import { expect, test } from "vitest"
import { startChat } from "./chatting.ts"
import { TERMINALS } from "./terminal.ts"
import type { Workbench } from "./workbench.ts"

/** Only what the person saves: extraction would take answers of the scripted model. */
const BY_HAND = { STRATA_AUTO_MEMORY: "0" }
const SECRET = `sk-ant-api03-${"Ab3dE6gH9j".repeat(9)}AA`

async function memoryOf({ home, project }: Workbench) {
  const directory = join(home, "projects", (await projectIdentity(project)).name, "memory")
  const files = existsSync(directory) ? readdirSync(directory).filter((name) => name.endsWith(".md")) : []
  return files.map((name) => readFileSync(join(directory, name), "utf8")).join("\n")
}

test.each(TERMINALS)("L5-8 # remembers at once, and a secret is refused, in $name", async ({ open }) => {
  await using at = await startChat(open, { turns: ["Noted."], env: BY_HAND })
  const { terminal, bench } = at
  terminal.type("# We always use pnpm")
  terminal.press("enter")
  await terminal.sees(/strata memory forget\s+we-always-use-pnpm/)
  expect(await memoryOf(bench)).toContain("We always use pnpm")
  terminal.type(`# the key is ${SECRET}`)
  terminal.press("enter")
  await terminal.sees("Nothing was saved")
  expect(await memoryOf(bench)).not.toContain(SECRET)
  terminal.type("/memory")
  terminal.press("enter")
  await terminal.sees("1 memory in")
  await terminal.sees(/we-always-use-pnpm +feedback +today +you said it/)
  await terminal.sees("No memory was offered in this conversation.")
  expect(bench.sim.log).toHaveLength(0)
})

test("L5-7 L5-8 why says what a conversation was offered, and what for", async () => {
  const [terminal] = TERMINALS
  if (!terminal) return
  await using at = await startChat(terminal.open, { turns: ["Hello.", "Understood.", "Use pnpm."], env: BY_HAND })
  const { bench } = at
  const say = async (text: string, answer: string) => {
    at.terminal.type(text)
    at.terminal.press("enter")
    await at.terminal.sees(answer)
  }
  await say("Good morning", "Hello.")
  await say("# We always use pnpm", "Remembered in")
  await say("Let us begin", "Understood.")
  at.terminal.press("ctrl-d")
  await at.terminal.sees("To continue")
  const first = await bench.strata(["memory", "why"]).ended
  expect(first.stdout).toMatch(/Saved in this conversation:\n +we-always-use-pnpm/)

  const { stdout } = await bench.strata(["run", "--json", "How do I install?"], { env: BY_HAND }).ended
  const { conversation } = JSON.parse(stdout.split("\n")[0]!) as { conversation: string }
  const [page, json] = await Promise.all([
    bench.strata(["memory", "why", conversation.slice(0, 8)]).ended,
    bench.strata(["memory", "why", "--json"]).ended,
  ])
  expect(page.stdout).toContain("At the start, in full: we-always-use-pnpm\n")
  expect(JSON.parse(json.stdout)).toMatchObject({ conversation, standing: ["we-always-use-pnpm.md"] })
})

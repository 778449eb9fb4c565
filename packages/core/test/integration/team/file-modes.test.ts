/** Only the owner may read a conversation's data: every file under the home directory, after a run that writes all kinds of them. */
import { lstat, readdir } from "node:fs/promises"
import { join, relative } from "node:path"
import { expect, test } from "vitest"
import { isWhole } from "../../size.ts"
import { ask, calls, project } from "../agent/agents.ts"
import { agentCall, castSimulator, leadFor } from "./cast.ts"

/** Permissions of other users, by path. */
async function openToOthers(
  root: string,
): Promise<{ readonly open: readonly string[]; readonly all: readonly string[] }> {
  const names = await readdir(root, { recursive: true })
  const found = await Promise.all(
    names.map(async (name) => ({ name, mode: (await lstat(join(root, name)).catch(() => undefined))?.mode ?? 0 })),
  )
  return {
    open: found
      .filter(({ mode }) => (mode & 0o077) !== 0)
      .map(({ name, mode }) => `${name} ${(mode & 0o777).toString(8)}`),
    all: names.map((name) => relative(root, join(root, name))),
  }
}

test.runIf(isWhole)(
  "JRN-8, L7-4 files of a conversation and of its sub-agents can be read by their owner only",
  async () => {
    const { sim } = await castSimulator({
      lead: [
        calls(agentCall("[finder] Print much."), ["Recall", { search: "much" }]),
        calls(["Recall", { search: "parser", in: "project" }]),
        "Done.",
      ],
      finder: [
        calls(["Bash", { command: "seq 1 200000" }], ["Write", { file_path: "b.ts", content: "x" }]),
        calls(["SendMessage", { to: "lead", message: "I found it." }]),
        calls(["Recall", { search: "seq" }]),
        "The parser is in a.ts.",
      ],
    })
    const home = project({ "a.ts": "parse()" })
    const agent = await leadFor(sim, { ...home, settings: { switches: { notes: true, "auto-memory": true } } })
    await ask(agent, "Remember that I use tabs. Find the parser.")
    await agent.conversation.whenIdle()
    const during = await openToOthers(home.dir)
    expect(during.open).toEqual([])
    await agent.close()
    const after = await openToOthers(home.dir)
    expect(after.open).toEqual([])
    const has = (pattern: RegExp) =>
      expect(
        [...during.all, ...after.all].some((name) => pattern.test(name)),
        `${pattern}`,
      ).toBe(true)
    for (const kind of [/subagents\/.*\.jsonl$/, /\.lock$/, /subagents\/.*\.index$/, /tool-results\//, /\.sqlite$/])
      has(kind)
    expect(process.umask()).toBe(0o022) // otherwise the test proves nothing
  },
)

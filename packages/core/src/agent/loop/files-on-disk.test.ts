/** Files that an agent's commands change: a real shell, real files, an in-process model. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { calling, scene } from "../../../test/scripted-agent.ts"
import { codingTools } from "../tools/toolsets.ts"

test("L4-29 the journal names the files that a generator wrote, and no request does", async () => {
  const { cwd, open, requests } = scene()
  mkdirSync(join(cwd, "src"))
  writeFileSync(join(cwd, "generate.sh"), "echo one > src/made.ts; rm src/old.ts; exit 3")
  writeFileSync(join(cwd, "src", "old.ts"), "old")
  const agent = await open([calling("Bash", { command: "sh generate.sh" }), "Done."], {
    tools: codingTools(),
    mode: "bypass",
    env: { PATH: process.env.PATH },
  })
  for await (const _ of agent.query("Generate the code.")) {
    // only the recorded changes are tested
  }
  expect(existsSync(join(cwd, "src", "made.ts"))).toBe(true)
  const files = new Map(agent.conversation.artifacts().files.map(({ path, ...facts }) => [path, facts]))
  expect(files.get(join(cwd, "src", "made.ts"))).toMatchObject({ isCreated: true, isDeleted: false })
  expect(files.get(join(cwd, "src", "old.ts"))).toMatchObject({ isDeleted: true })
  expect([...files.keys()].every((path) => !path.includes("home"))).toBe(true)
  expect(JSON.stringify(requests)).not.toContain("made.ts")
})

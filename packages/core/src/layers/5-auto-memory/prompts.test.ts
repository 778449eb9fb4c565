/**
 * The complete prompt for memories as a model gets it. The files in `prompts/rendered/` are for reading and reviewing: after a change to
 * the prompt, `npx vitest run packages/core/src/layers/5-auto-memory/prompts.test.ts -u` writes them again.
 */
import { describe, expect, test } from "vitest"
import { howToRemember, memoryPrompt } from "./prompts.ts"

const location = "/home/me/.strata/projects/app/memory"
const today = "2026-11-15"
const index = "- [Deploys](deploys.md): When we deploy"

describe("L5-2, L5-3, L5-4 the prompt for memories, whole", () => {
  test.each([
    ["first", { mode: "with-files", memories: "" }],
    ["later", { mode: "with-files", memories: index, since: "No, use tabs.\nAnd run it again." }],
    ["as-text", { mode: "as-text", memories: index }],
  ] as const)("%s", async (name, input) => {
    const prompt = memoryPrompt({ ...input, location, today, turns: 5 })
    await expect(`${prompt}\n`).toMatchFileSnapshot(`prompts/rendered/${name}.md`)
  })

  test("how the agent keeps memories itself", async () => {
    await expect(`${howToRemember(location)}\n`).toMatchFileSnapshot("prompts/rendered/how-to-remember.md")
  })

  test("L7-7 how an agent keeps its own memory", async () => {
    const own = "/home/me/.strata/agent-memory/reviewer"
    await expect(`${howToRemember(own, "agent")}\n`).toMatchFileSnapshot("prompts/rendered/how-agents-remember.md")
  })

  test("what looks like a variable in a value has no effect", () => {
    const prompt = memoryPrompt({ mode: "as-text", memories: "{{today}} $&", location, today, turns: 5 })
    expect(prompt).toContain("{{today}} $&")
  })
})

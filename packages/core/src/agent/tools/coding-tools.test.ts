import { describe, expect, it } from "vitest"
import { toolDefinition } from "../../tools/definition/definition.ts"
import { openShellTools, sessionTools, webTools } from "./coding-tools.ts"

const skill = { name: "s", description: "", directory: "/s", path: "/s/SKILL.md", isOwn: true }

describe("the lists of tools", () => {
  it("CACHE-2: are always in the same order", () => {
    const names = [...openShellTools().tools, ...webTools(), ...sessionTools({ skills: [skill] })].map(
      ({ name }) => name,
    )
    expect(names).toEqual([
      "Bash",
      "BashOutput",
      "KillShell",
      "WebFetch",
      "TodoWrite",
      "Skill",
      "EnterPlanMode",
      "ExitPlanMode",
      "AskUser",
    ])
    expect(sessionTools().map(({ name }) => name)).not.toContain("Skill")
  })

  it("hold tools whose inputs are objects with described fields", async () => {
    for (const tool of [...openShellTools().tools, ...webTools(), ...sessionTools({ skills: [skill] })]) {
      expect(await toolDefinition(tool)).toMatchObject({ input_schema: { type: "object" } })
      expect(tool.description.length).toBeGreaterThan(80)
    }
  })
})

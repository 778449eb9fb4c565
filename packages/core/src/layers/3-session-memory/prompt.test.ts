import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { scratchDirectory } from "../../../test/tool-context.ts"
import { fillPrompt } from "../../base/text.ts"
import { defaultText, loadTexts } from "./notes.ts"

describe("L3-2 the prompt and its variables", () => {
  test("values are values: what looks like a pattern or a variable changes nothing but its own place", () => {
    const filled = fillPrompt("a {{notes}} b {{path}}", { notes: "$& $1 {{path}} $`", path: "/p" })
    expect(filled).toBe("a $& $1 {{path}} $` b /p")
  })

  test("a variable that is not known stays; names from Object are not known either", () => {
    expect(fillPrompt("{{other}} {{constructor}} {{ path }}", { path: "/p" })).toBe(
      "{{other}} {{constructor}} {{ path }}",
    )
  })

  test("ours asks for the notes where they are and shows them", () => {
    expect(defaultText("prompt.md")).toContain("{{where}}")
    expect(defaultText("prompt.md")).toContain("{{notes}}")
  })

  test("texts in the configuration directory replace ours, each by itself; an empty one does not", async () => {
    const own = { template: defaultText("template.md"), prompt: defaultText("prompt.md") }
    expect(await loadTexts(undefined)).toEqual(own)
    const directory = join(scratchDirectory(), "config")
    expect(await loadTexts(directory)).toEqual(own)
    mkdirSync(directory)
    writeFileSync(join(directory, "prompt.md"), "Mine: {{path}}")
    writeFileSync(join(directory, "template.md"), "\n")
    expect(await loadTexts(directory)).toEqual({ ...own, prompt: "Mine: {{path}}" })
    writeFileSync(join(directory, "template.md"), "# Goal\n")
    expect((await loadTexts(directory)).template).toBe("# Goal\n")
  })
})

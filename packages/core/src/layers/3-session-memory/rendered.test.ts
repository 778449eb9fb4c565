/**
 * The complete notes prompt as a model gets it. The files in `rendered/` are for reading and reviewing: after a change to the prompt, `npx
 * vitest run packages/core/src/layers/3-session-memory/rendered.test.ts -u` writes them again.
 */
import { describe, expect, test } from "vitest"
import { defaultText } from "./notes.ts"
import { notesPrompt } from "./write.ts"

const path = "/home/me/.strata/projects/app/session-memory/conversation.md"
const where = (name: string) =>
  name.endsWith("without-files") ? { location: "memory:app/conversation" } : { path, location: path }
const limits = { section: 2_000, total: 12_000 }
const template = defaultText("template.md")
const noted = template.replace("# Worklog", "# Worklog\n_What was done_\n\n- read the parser\n\n# More")

describe("L3-2, L3-5 the notes prompt, whole", () => {
  test.each([
    ["first-update", "with-edit", template, () => 10],
    ["first-update-as-text", "as-text", template, () => 10],
    ["first-update-without-files", "as-text", template, () => 10],
    ["section-too-large", "with-edit", noted, (text: string) => (text.includes("read the parser") ? 2_500 : 10)],
    ["notes-too-large", "with-edit", noted, () => 13_000],
  ] as const)("%s", async (name, mode, notes, estimate) => {
    const prompt = notesPrompt(defaultText("prompt.md"), { ...where(name), notes, limits, estimate, mode })
    await expect(`${prompt}\n`).toMatchFileSnapshot(`rendered/${name}.md`)
  })
})

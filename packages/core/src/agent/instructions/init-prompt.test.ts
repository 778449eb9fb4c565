import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { initPrompt } from "./init-prompt.ts"

test("BEY-18 /init writes AGENTS.md, or improves the instruction file that is there", () => {
  const directory = mkdtempSync(join(tmpdir(), "strata-init-"))
  try {
    const prompt = (request = "") => initPrompt({ directory, request })
    expect(prompt()).toMatch(/^Write AGENTS\.md in this directory/)
    writeFileSync(join(directory, "CLAUDE.md"), "")
    expect(prompt()).toMatch(/^Improve CLAUDE\.md in this directory[\s\S]*Rules that the user wrote stay/)
    writeFileSync(join(directory, "AGENTS.md"), "")
    expect(prompt("{{file}} $&")).toMatch(/^Improve AGENTS\.md [\s\S]*The user also wants: \{\{file\}\} \$&$/)
    expect(prompt()).not.toContain("{{")
  } finally {
    rmSync(directory, { recursive: true })
  }
})

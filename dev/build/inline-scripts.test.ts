import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { withInlinedScripts } from "./inline-scripts.ts"

const FILE = join(import.meta.dirname, "../../packages/page/src/server/app.ts")

test("BEY-10 a package has the scripts of its pages inside, small and without types", () => {
  const code = withInlinedScripts(FILE, readFileSync(FILE, "utf8"))
  const { page } = JSON.parse(/const BUILT_SCRIPTS: [^=]* = (\{.*\})\n/.exec(code)![1]!) as { readonly page: string }
  expect(page).toContain("EventSource")
  expect(page).not.toMatch(/\bimport\b|: HTMLElement|interface /)
  expect(page.length).toBeLessThan(150_000)
})

test("other files stay as they are", () => {
  expect(withInlinedScripts("packages/page/src/index.ts", "const a = 1")).toBe("const a = 1")
})

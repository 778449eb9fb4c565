import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { withInlinedScripts } from "./inline-scripts.ts"

const FILE = new URL("../../packages/page/src/server/scripts.ts", import.meta.url).pathname

test("BEY-10 a package has the scripts of its pages inside, small and without types", () => {
  const code = withInlinedScripts(FILE, readFileSync(FILE, "utf8"))
  const built = JSON.parse(/const BUILT = (\{.*\})\n/.exec(code)![1]!) as Record<string, string>
  expect(Object.keys(built)).toContain("page")
  expect(built.page).toMatch(/from"\.\/live\.js"/)
  expect(Object.values(built).join("")).not.toMatch(/: HTMLElement|interface /)
  expect(Object.values(built).join("").length).toBeLessThan(150_000)
})

test("other files stay as they are", () => {
  expect(withInlinedScripts("packages/page/src/index.ts", "const a = 1")).toBe("const a = 1")
})

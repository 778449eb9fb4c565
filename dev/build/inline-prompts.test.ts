import { expect, test } from "vitest"
import { withInlinedPrompts } from "./inline-prompts.ts"

const inlined = (code: string) => withInlinedPrompts({ path: "dist/a.js", code }, (prompt) => `text of "${prompt}"\n$&`)

test("a prompt read by a literal path becomes its text, whatever the text contains", () => {
  const code = 'const a = promptText(new URL("./a.md", import.meta.url)).trim();'
  expect(inlined(code)).toBe(String.raw`const a = "text of \"./a.md\"\n$&".trim();`)
})

test("a call that spans lines is inlined too", () => {
  expect(inlined('promptText(\n  new URL("./a.md", import.meta.url),\n)')).toContain("text of")
})

test("the function itself stays", () => {
  const code = 'export function promptText(file) {\n    return readFileSync(file, "utf8");\n}\n'
  expect(inlined(code)).toBe(code)
})

test("a call the build cannot inline is an error that says how to write it", () => {
  const code = "const read = (name) => promptText(new URL(name, import.meta.url));"
  expect(() => inlined(code)).toThrow(
    'a.js calls promptText with something the build cannot inline. Write promptText(new URL("./file.md"',
  )
})

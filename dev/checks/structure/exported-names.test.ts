import { expect, test } from "vitest"
import { entriesOf, exportedNames } from "./exported-names.ts"

const sources: Record<string, string> = {
  "src/index.ts": [
    'export { a, type B, c as d } from "./one.ts"',
    "export type {\n  E,\n  F,\n} from './two.ts'",
    'export * from "./three.ts"',
    "/** export const hidden = 1 */",
  ].join("\n"),
  "src/three.ts":
    "export async function g() {}\nexport interface H {}\nexport abstract class I {}\nexport type J = 1\nconst k = 1\nexport { k }\n",
}

test("names are counted through lists, declarations and re-exported files, values and types apart", () => {
  expect(exportedNames("src/index.ts", (file) => sources[file]!)).toEqual({
    values: ["I", "a", "d", "g", "k"],
    types: ["B", "E", "F", "H", "J"],
  })
})

test("a package's entries are those of its manifest that lead to TypeScript", () => {
  expect(entriesOf({ exports: { ".": "./src/index.ts", "./package.json": "./package.json" } })).toEqual([
    { name: ".", file: "./src/index.ts" },
  ])
  expect(entriesOf({ exports: "./src/index.ts" })).toEqual([{ name: ".", file: "./src/index.ts" }])
  expect(entriesOf({})).toEqual([])
})

import { describe, expect, test } from "vitest"
import { deepImports, devImports, findCycles, importsOf, openSubpaths, setsHooks, upwardImports } from "./structure.ts"

const sources: Record<string, string> = {
  "packages/core/src/base/ids.ts": "",
  "packages/core/src/views/words.ts": 'import { a } from "../base/ids.ts"\nimport type { B } from "../agent/query.ts"',
  "packages/core/src/agent/query.ts": 'export { c } from "../views/words.ts"',
  "packages/sim/src/server.ts": 'const lazy = await import("../../core/src/agent/query.ts")',
}
const imports = importsOf(Object.keys(sources), (file) => sources[file]!)

describe("the structure check", () => {
  test("finds static, type-only, lazy and re-exporting imports", () => expect(imports).toHaveLength(4))

  test("reports a floor that imports from one above it", () => {
    expect(upwardImports(imports)).toEqual([
      { from: "packages/core/src/views/words.ts", to: "packages/core/src/agent/query.ts" },
    ])
  })

  test("reports a path into another package", () => {
    expect(deepImports(imports)).toEqual([
      { from: "packages/sim/src/server.ts", to: "packages/core/src/agent/query.ts" },
    ])
  })

  test("what is never published may read sources of packages, which do without it, tests included", () => {
    const reads = { from: "dev/lab/a.ts", to: "packages/core/src/b.ts" }
    const isRead = { from: "packages/core/test/c.test.ts", to: "dev/lab/a.ts" }
    expect([...deepImports([reads]), ...upwardImports([reads])]).toEqual([])
    expect(devImports([reads, isRead])).toEqual([isRead])
  })

  test("reports a subpath that opens the sources of a package", () => {
    const exports = { ".": "./src/index.ts", "./internal/*": "./src/*.ts" }
    expect(openSubpaths({ name: "@strata/a", exports })).toEqual([
      "@strata/a opens its sources with ./internal/*: name what others need in an entry",
    ])
  })

  test("reports a circle", () => {
    expect(findCycles(imports)).toEqual([
      ["packages/core/src/views/words.ts", "packages/core/src/agent/query.ts", "packages/core/src/views/words.ts"],
    ])
  })

  test("reports hooks in a file that tests share, not those that a function sets where it is called", () => {
    expect(setsHooks('import { afterEach } from "vitest"\nafterEach(() => remove())\n')).toBe(true)
    expect(setsHooks("export function cleanUp() {\n  afterEach(() => remove())\n}\n")).toBe(false)
  })
})

import { expect, test } from "vitest"
import { reachedDeclarations } from "./reached-declarations.ts"

const core = {
  directory: "/core",
  manifest: {
    name: "@strata/core",
    exports: {
      ".": "./src/index.ts",
      "./for-sim": "./src/for/sim.ts",
      "./package.json": "./package.json",
    },
  },
}
const sim = { directory: "/sim", manifest: { name: "@strata/sim", exports: { ".": "./src/index.ts" } } }
const FILES: Record<string, string> = {
  "/core/dist/index.d.ts": 'export type { A } from "./deep/a.js";\nimport "zod";',
  "/core/dist/deep/a.d.ts": 'export type A = import("../b.js").B;',
  "/core/dist/b.d.ts": 'export type { A } from "./deep/a.js";',
  "/core/dist/c.d.ts": "",
  "/core/dist/for/sim.d.ts": "",
  "/sim/dist/index.d.ts": 'import type { S } from "@strata/core/for-sim";\nimport type { A } from "@strata/core";',
}

test("what entries import is reached, across packages, and what none imports is not", () => {
  expect([...reachedDeclarations([core, sim], (file) => FILES[file]!)].toSorted()).toEqual([
    "/core/dist/b.d.ts",
    "/core/dist/deep/a.d.ts",
    "/core/dist/for/sim.d.ts",
    "/core/dist/index.d.ts",
    "/sim/dist/index.d.ts",
  ])
})

import { expect, test } from "vitest"
import { importsOf, packageNameOf, withCompiledPaths, withOptionalTypes } from "./imports.ts"

const CODE = `/**
 * import { nothing } from "an-example"
 */
import { a, type B } from "./a.ts";
export * from "../b.tsx";
import "./c.ts";
export declare const d: import("./d.ts").D;
const e = await import("@scope/e/deep"); // from "a comment"
const word = { from: "here", bytes: Buffer.from("one") };
const json = '{"from":"there"}';
const texts = { "where it comes from":[], b: "" };import{f}from"./f.ts";
`

test("imports of every kind are found, those in comments are not", () => {
  expect(importsOf(CODE)).toEqual(["./a.ts", "../b.tsx", "./c.ts", "./d.ts", "@scope/e/deep", "./f.ts"])
})

test("declarations lead to compiled files", () => {
  expect(importsOf(withCompiledPaths(CODE))).toEqual([
    "./a.js",
    "../b.js",
    "./c.js",
    "./d.js",
    "@scope/e/deep",
    "./f.js",
  ])
})

test("types of a package that may be missing cause no error", () => {
  const declaration = 'import type { A } from "ai";\nimport type { Z } from "zod";\n'
  expect(withOptionalTypes(declaration, new Set(["ai"]))).toBe(
    '// @ts-ignore: ai may not be installed\nimport type { A } from "ai";\nimport type { Z } from "zod";\n',
  )
})

test("a package's name ends before its subpath", () => {
  expect(["zod", "hono/types", "@strata/core/agent"].map(packageNameOf)).toEqual(["zod", "hono", "@strata/core"])
})

import { expect, test } from "vitest"
import { problemsIn } from "./problems.ts"

const SOUND = {
  "package.json": JSON.stringify({ name: "@strata/thing", version: "1.0.0", dependencies: { zod: "4.0.0" } }),
  "README.md": "See [the license](LICENSE), [below](#below) and [the web](https://example.com).",
  LICENSE: "",
  "dist/index.js": 'import "node:fs";\nimport "zod/v4";\nimport "./deep/part.js";\n// made by dev/lab/fit.ts',
  "dist/deep/part.js": 'export * from "../index.js";',
}
const problems = (changed: Record<string, string>) =>
  problemsIn(new Map(Object.entries({ ...SOUND, ...changed })), { machinePaths: ["/home/me", "/app"] })

test("a sound package has no problems", () => expect(problems({})).toEqual([]))

test.each([
  [{ "dist/index.js": 'import "hono";' }, "dist/index.js imports hono, which the package does not depend on."],
  [{ "dist/index.js": 'import "./b.ts";' }, "dist/index.js imports ./b.ts, which is not in the package."],
  [
    { "dist/index.js": 'import "../../core/a.js";' },
    "dist/index.js imports ../../core/a.js, which is not in the package.",
  ],
  [{ "dist/a.d.ts": 'import type { B } from "./b.js";' }, "dist/a.d.ts imports ./b.js, which is not in the package."],
  [{ "dist/a.js": 'read("packages/core/src")' }, "dist/a.js names a path of the workspace: packages/core/src."],
  [
    { "dist/a.js": 'read("packages/store-contract/src")' },
    "dist/a.js names a path of the workspace: packages/store-contract/src.",
  ],
  [{ "dist/a.js": 'read("dev/lab/fit.ts")' }, "dist/a.js names a path of the workspace: dev/lab/."],
  [
    { "dist/a.js": 'read(new URL("./a.md", import.meta.url))' },
    'dist/a.js cannot be bundled: new URL("./a.md", import.meta.url).',
  ],
  [{ "dist/a.d.ts": "class A {\n  /** @internal */\n  b: number\n}" }, "dist/a.d.ts declares what is internal."],
  [{ "dist/a.md": "/home/me/notes" }, "dist/a.md names /home/me."],
  [{ "dist/a.test.js": "" }, "dist/a.test.js belongs to development."],
  [{ "dist/a.ts": "" }, "dist/a.ts belongs to development."],
  [{ "README.md": "[docs](docs/agent.md)" }, "README.md links to docs/agent.md, which is not in the package."],
])("%o: %s", (changed, problem) => expect(problems(changed as Record<string, string>)).toEqual([problem]))

test("a short directory name does not identify this machine", () =>
  expect(problems({ "dist/a.md": "/app" })).toEqual([]))

test("what every package has must be there", () => {
  const files = new Map(Object.entries(SOUND))
  files.delete("LICENSE")
  expect(problemsIn(files, { machinePaths: [] })).toEqual(["LICENSE is missing."])
})

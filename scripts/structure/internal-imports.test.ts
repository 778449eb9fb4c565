import { expect, test } from "vitest"
import { INTERNAL_USES, type InternalUse, internalProblems } from "./internal-imports.ts"

const uses: readonly InternalUse[] = [{ where: "chat/", files: ["base/a"], why: "a reason" }]
const problems = (sources: Readonly<Record<string, string>>) =>
  internalProblems(Object.keys(sources), (file) => sources[file]!, uses)
const chat = { "packages/cli/src/chat/chat.ts": 'import { a } from "@strata/core/internal/base/a"' }

test("the program takes from the inside of the library only what the list names", () => {
  expect(problems(chat)).toEqual([])
  expect(
    problems({ ...chat, "packages/cli/src/chat/b.ts": 'import type { B } from "@strata/core/internal/b"' }),
  ).toEqual(["packages/cli/src/chat/b.ts imports b from inside the library: use @strata/core"])
  expect(
    problems({ ...chat, "packages/cli/src/run/a.ts": 'const { a } = await import("@strata/core/internal/base/a")' }),
  ).toEqual(["packages/cli/src/run/a.ts imports base/a from inside the library: use @strata/core"])
})

test("what no file uses any more goes from the list", () => {
  expect(problems({ "packages/cli/src/chat/chat.ts": 'import { a } from "@strata/core"' })).toEqual([
    "scripts/structure/internal-imports.ts lists base/a for chat/, which does not use it any more",
  ])
})

test.each(["run", "inspect", "recall", "memory", "compact", "undo", "agents"])(
  "strata %s is written on the public library alone",
  (command) => {
    expect(INTERNAL_USES.filter(({ where }) => where.startsWith(command))).toEqual([])
  },
)

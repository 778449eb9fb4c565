import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { projectFiles } from "./project-files.ts"

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "strata-files-"))
  for (const path of [
    ".git/config",
    ".gitignore",
    "a.ts",
    "src/b c.ts",
    "dist/out.js",
    "node_modules/x/y.js",
    'q".ts',
  ]) {
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    writeFileSync(join(directory, path), path === ".gitignore" ? "dist\n" : "")
  }
})
afterEach(() => rmSync(directory, { recursive: true }))

const TIME = 10_000 // enough on any machine

test("files that git ignores, node_modules and .git are not offered", async () => {
  const limits = { files: 100, ms: TIME }
  const { files, isPartial } = await projectFiles({ directory, below: ".", limits })
  expect([...files].sort()).toEqual([".gitignore", "a.ts", "src/b c.ts"])
  expect(isPartial).toBe(false)
  expect((await projectFiles({ directory, below: "src", limits })).files).toEqual(["src/b c.ts"])
})

test("a walk that finds more than its limit stops and says so", async () => {
  const { files, isPartial } = await projectFiles({ directory, below: ".", limits: { files: 1, ms: TIME } })
  expect([files.length <= 2, isPartial]).toEqual([true, true])
  expect(await projectFiles({ directory, below: ".", limits: { files: 9, ms: -1 } })).toEqual({
    files: [],
    isPartial: true,
  })
})

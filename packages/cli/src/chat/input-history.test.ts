import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { historyFile } from "./input-history.ts"

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "strata-history-"))
})
afterEach(() => rmSync(root, { recursive: true }))

test("inputs are kept for each project, whole, in order, for their owner only", async () => {
  const file = historyFile(root, ["project"])
  expect(await file.read()).toEqual([])
  await file.add("one")
  await file.add("two\nlines")
  expect(await historyFile(root, ["project"]).read()).toEqual(["one", "two\nlines"])
  expect(await historyFile(root, ["other"]).read()).toEqual([])
  expect(statSync(join(root, "projects", "project", "input-history")).mode & 0o077).toBe(0)
})

test("a line that was cut off is passed over", async () => {
  const file = historyFile(root, ["project"])
  await file.add("kept")
  writeFileSync(join(root, "projects", "project", "input-history"), '"half', { flag: "a" })
  expect(await file.read()).toEqual(["kept"])
})

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { appendLogFile } from "../../../core/src/journal/file/small-files.ts"
import { isWhole } from "../../../core/test/size.ts"
import { clientLog } from "./client-log.ts"

const LINE = { conversation: "one", caller: "", tools: "", links: ["a"], ends: ["a"] }

function place(): string {
  const dir = mkdtempSync(join(tmpdir(), "strata-caller-log-"))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

test("BEY-14 a place that could not be written to is tried again", async () => {
  const dir = place()
  writeFileSync(join(dir, "callers"), "no folder")
  const log = clientLog(appendLogFile(join(dir, "callers", "project.jsonl")))
  await expect(log.append(LINE)).rejects.toThrow()
  rmSync(join(dir, "callers"))
  await log.append(LINE)
  rmSync(join(dir, "callers"), { recursive: true })
  await expect(log.append(LINE)).rejects.toThrow()
  await log.append(LINE)
  expect(await log.read()).toEqual([LINE])
})

test.runIf(isWhole)("BEY-14 a large file that cannot be written again is read all the same", async () => {
  const path = join(place(), "project.jsonl")
  const lines = Math.ceil(16_000_000 / JSON.stringify(LINE).length)
  writeFileSync(path, `${JSON.stringify(LINE)}\n`.repeat(lines))
  mkdirSync(`${path}.draft`) // blocks the draft of the rewrite
  expect(await clientLog(appendLogFile(path)).read()).toHaveLength(lines)
})

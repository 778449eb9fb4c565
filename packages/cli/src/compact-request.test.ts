import { expect, test } from "vitest"
import { compactRequestIn, readClearRequest, readCompactRequest, readUndoRequest } from "./compact-request.ts"

test("L4-24 the text after /compact", () => {
  expect(readCompactRequest("")).toEqual({ isDryRun: false, order: {} })
  expect(readCompactRequest("keep the tests --dry-run")).toEqual({
    isDryRun: true,
    order: { instructions: "keep the tests" },
  })
  expect(readCompactRequest("keep\nthe --dry-run tests")).toEqual({
    isDryRun: true,
    order: { instructions: "keep\nthe tests" },
  })
  expect(readCompactRequest("-- keep --dry-run in mind - or not")).toEqual({
    isDryRun: false,
    order: { instructions: "keep --dry-run in mind - or not" },
  })
  expect(readCompactRequest("--dry-run keep the ports")).toEqual({
    isDryRun: true,
    order: { instructions: "keep the ports" },
  })
})

test("a task is a /compact only where that is its first word", () => {
  expect(compactRequestIn(" /compact\nkeep the ports\nand hosts ")).toEqual({
    isDryRun: false,
    order: { instructions: "keep the ports\nand hosts" },
  })
  expect(compactRequestIn("/compactness")).toBeUndefined()
  expect(compactRequestIn("What does /compact do?")).toBeUndefined()
})

test("L4-24 a misspelt --dry-run is refused, not taken as words and carried out", () => {
  for (const argument of [
    "--dryrun",
    "--dry-run=true keep the ports",
    "--dry-run --verbose",
    "keep this --dry",
    "keep —dry-run",
  ])
    expect(() => readCompactRequest(argument)).toThrow("--dry-run")
})

test("BEY-3, L4-38 options of /compact choose what to make room with", () => {
  expect(readCompactRequest("--edit keep the ports")).toEqual({
    isDryRun: false,
    edits: true,
    order: { instructions: "keep the ports" },
  })
  expect(readCompactRequest("--dry-run --tool Bash --keep 2")).toEqual({
    isDryRun: true,
    order: {},
    clearing: { tool: "Bash", keep: 2 },
  })
  expect(readCompactRequest("--images")).toEqual({ isDryRun: false, order: {}, clearing: { images: true } })
  expect(readCompactRequest("--prune --dry-run")).toEqual({ isDryRun: true, order: {}, clearing: { prune: true } })
  expect(readCompactRequest("--before 3f09c1a2b4 the ports")).toEqual({
    isDryRun: false,
    order: { instructions: "the ports", range: { kind: "up-to", uuid: "3f09c1a2b4" } },
  })
  expect(readCompactRequest("--after 3f09c1a2b4").order.range).toEqual({ kind: "from", uuid: "3f09c1a2b4" })
  for (const wrong of ["--tool", "--keep 2", "--tool Bash --images", "--images keep this", "--tool A --keep x"])
    expect(() => readCompactRequest(wrong)).toThrow("Nothing was changed")
  for (const wrong of ["--prune --images", "--prune --tool Bash", "--prune keep this"])
    expect(() => readCompactRequest(wrong)).toThrow("Nothing was changed")
  expect(() => readCompactRequest("--before a --after b")).toThrow("not both")
})

test("L2-13 /clear-results needs a size", () => {
  expect(readClearRequest("60000")).toEqual({ downTo: 60_000, dryRun: false })
  expect(readClearRequest("60,000 --dry-run")).toEqual({ downTo: 60_000, dryRun: true })
  expect(readClearRequest("--dry-run 60_000")).toEqual({ downTo: 60_000, dryRun: true })
  for (const wrong of ["", "all", "--dry-run", "60000 --dryrun", "60000 --dry-run --now"])
    expect(() => readClearRequest(wrong)).toThrow("Nothing was changed")
})

test("BEY-3 /undo and its options", () => {
  expect(readUndoRequest("")).toEqual({ keepLater: true, dryRun: false })
  expect(readUndoRequest("--dry-run --drop-later")).toEqual({ keepLater: false, dryRun: true })
  expect(() => readUndoRequest("--all")).toThrow("has no option --all")
})

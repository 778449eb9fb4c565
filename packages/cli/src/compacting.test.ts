import { expect, test } from "vitest"
import { compactRequestIn, readCompactRequest } from "./compacting.ts"

test("L4-24 the text after /compact", () => {
  expect(readCompactRequest("")).toEqual({ isDryRun: false, order: {} })
  expect(readCompactRequest("keep --dry-run in mind")).toEqual({
    isDryRun: false,
    order: { instructions: "keep --dry-run in mind" },
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
  for (const argument of ["--dryrun", "--dry-run=true keep the ports", "--dry-run --verbose"])
    expect(() => readCompactRequest(argument)).toThrow("--dry-run")
})

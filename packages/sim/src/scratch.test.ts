import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { makeScratch } from "./scratch.ts"

let source: string
beforeEach(() => {
  source = mkdtempSync(join(tmpdir(), "strata-scratch-test-"))
  for (const directory of ["src", "node_modules/x", ".git", ".built"])
    mkdirSync(join(source, directory), { recursive: true })
  for (const file of ["a.txt", "src/b.txt", "node_modules/x/c.js", ".git/HEAD", ".built/d"])
    writeFileSync(join(source, file), "text")
})
afterEach(() => rmSync(source, { recursive: true }))

const filesIn = (directory: string) =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
    .toSorted()

describe("a scratch copy", () => {
  it("has the sources, and neither dependencies nor history nor links", () => {
    symlinkSync("/etc/hostname", join(source, "link"))
    const scratch = makeScratch(source)
    expect(filesIn(scratch.project)).toEqual(["a.txt", "b.txt"])
    scratch.remove()
    expect(existsSync(scratch.project)).toBe(false)
  })

  it("is bounded in files, in bytes and in the size of a file", () => {
    writeFileSync(join(source, "large.bin"), "x".repeat(1_000))
    const copied = (limits: object) => {
      const scratch = makeScratch(source, { limits: { files: 10, bytes: 10_000, fileBytes: 10_000, ...limits } })
      const names = filesIn(scratch.project)
      scratch.remove()
      return names
    }
    expect(copied({ files: 1 })).toEqual(["a.txt"])
    expect(copied({ fileBytes: 500 })).toEqual(["a.txt", "b.txt"])
    expect(copied({ bytes: 6 })).toEqual(["a.txt"])
  })

  it("is numbered, takes no directory that is there already, and does not copy itself", () => {
    const before = process.env.TMPDIR
    process.env.TMPDIR = source
    try {
      mkdirSync(join(source, "strata-demo-1"))
      writeFileSync(join(source, "strata-demo-1", "mine.txt"), "text")
      const scratch = makeScratch(source)
      expect(scratch.project.startsWith(join(source, "strata-demo-2"))).toBe(true)
      expect(filesIn(scratch.project)).toEqual(["a.txt", "b.txt", "mine.txt"])
      scratch.remove()
      expect(readdirSync(source).filter((name) => name.startsWith("strata-demo"))).toEqual(["strata-demo-1"])
    } finally {
      if (before === undefined) delete process.env.TMPDIR
      else process.env.TMPDIR = before
    }
  })

  it("stays where that is asked for", () => {
    const scratch = makeScratch(source, { keep: true })
    scratch.remove()
    expect(existsSync(scratch.project)).toBe(true)
    rmSync(join(scratch.project, ".."), { recursive: true })
  })
})

import { describe, expect, test } from "vitest"
import type { FileRead } from "../tool.ts"
import { FileReads, forgetCalls } from "./read-state.ts"

const seen = (content: string, toolUseId?: string): FileRead => ({
  content,
  modifiedMs: 1,
  at: "2026-01-01T00:00:00.000Z",
  ...(toolUseId && { toolUseId }),
})
const paths = (reads: FileReads) => [...reads.entries()].map(([path]) => path)

describe("what was read", () => {
  test("is kept by path, the newest last", () => {
    const reads = new FileReads()
    reads.set("/a", seen("1"))
    reads.set("/b", seen("2"))
    reads.set("/a", seen("3"))
    expect(paths(reads)).toEqual(["/b", "/a"])
    expect(reads.get("/a")?.content).toBe("3")
  })

  test("is bounded by the number of files", () => {
    const reads = new FileReads({ limits: { files: 2, characters: 100 } })
    for (const path of ["/a", "/b", "/c"]) reads.set(path, seen("x"))
    expect(paths(reads)).toEqual(["/b", "/c"])
  })

  test("is bounded by its size, but the newest always stays", () => {
    const reads = new FileReads({ limits: { files: 10, characters: 10 } })
    reads.set("/a", seen("12345"))
    reads.set("/b", seen("12345"))
    expect(paths(reads)).toEqual(["/a", "/b"])
    reads.set("/c", seen("123456"))
    expect(paths(reads)).toEqual(["/c"])
    reads.set("/d", seen("x".repeat(50)))
    expect(paths(reads)).toEqual(["/d"])
  })

  test("L2-9 a fork's reads stay its own", () => {
    const reads = new FileReads()
    reads.set("/a", seen("1"))
    const fork = reads.clone()
    fork.set("/b", seen("2"))
    fork.forget("/a")
    expect(paths(reads)).toEqual(["/a"])
    expect(paths(fork)).toEqual(["/b"])
  })

  test("LOOP-8 L2-7 is forgotten with the calls that showed it", () => {
    const reads = new FileReads()
    reads.set("/a", seen("1", "call-1"))
    reads.set("/b", seen("2", "call-2"))
    reads.set("/written", seen("3"))
    forgetCalls(reads, new Set(["call-1", "call-9"]))
    expect(paths(reads)).toEqual(["/b", "/written"])
  })
})

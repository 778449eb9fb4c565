import { execFileSync } from "node:child_process"
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { needs } from "../../../test/needs.ts"
import { isWhole, size } from "../../../test/size.ts"
import { call, scratchDirectory, testContext, textIn } from "../../../test/tool-context.ts"
import { manualClock } from "../../base/clock.ts"
import { isMedia } from "../../messages/blocks.ts"
import { isReadOnly } from "../defaults.ts"
import { edit } from "./edit.ts"
import { read } from "./read.ts"
import { FileReads, forgetCalls } from "./read-state.ts"

/** Creates a file in a new directory, and the context of a conversation that has not read anything. */
function fileWith(content: string | Buffer, name = "file.txt") {
  const at = scratchDirectory()
  writeFileSync(join(at, name), content)
  const reads = new FileReads()
  const context = (toolUseId = "call-1") => testContext({ at, reads, toolUseId, clock: manualClock() })
  const readIt = async (input: object = {}, toolUseId?: string) =>
    textIn(await call(read, { file_path: name, ...input }, context(toolUseId)))
  return { at, name, path: join(at, name), reads, context, readIt }
}

const lineNumbered = (lines: readonly string[], first = 1) =>
  lines.map((line, i) => `${String(first + i).padStart(6)}\t${line}`).join("\n")

describe("LOOP-3 what Read shows is bounded", () => {
  test("numbered lines; the last line end begins no line", async () => {
    expect(await fileWith("one\n\nthree\n").readIt()).toBe("     1\tone\n     2\t\n     3\tthree")
    expect(await fileWith("\n").readIt()).toBe("     1\t")
    expect(await fileWith("open end").readIt()).toBe("     1\topen end")
  })

  test("2,000 lines, and how to go on", async () => {
    const { readIt } = fileWith(Array.from({ length: 2_500 }, () => "x").join("\n"))
    const first = await readIt()
    expect(first.split("\n")).toHaveLength(2_001)
    expect(first).toMatch(/ {2}2000\tx\n\[Lines 1-2000 of 2500\. To go on: offset 2001\.\]$/)
    expect(await readIt({ offset: 2_499 })).toBe("  2499\tx\n  2500\tx")
    await expect(readIt({ offset: 2_501 })).rejects.toThrow("has 2500 lines: none from offset 2501 on")
  })

  test("a huge single line is cut, between characters", async () => {
    const shown = await fileWith(`a${"🦀".repeat(500_000)}`).readIt()
    expect(shown.length).toBeLessThan(2_100)
    expect(shown).toContain("[line cut: 2000 of 1000001 characters shown]")
    expect(shown.isWellFormed()).toBe(true)
  })

  test("a file of 10 MB is shown in part, in a moment", async () => {
    const { readIt, reads, path } = fileWith(`${"x".repeat(99)}\n`.repeat(100_000))
    const shown = await readIt()
    expect(shown.length).toBeLessThanOrEqual(101_000)
    expect(shown).toMatch(/\[Lines 1-\d+ of 100000\. To go on: offset \d+\.\]$/)
    expect(reads.get(path)?.range?.offset).toBe(1)
    expect(await readIt({ offset: 100_000 })).toBe(lineNumbered(["x".repeat(99)], 100_000))
  })

  test("text that takes more tokens than characters is cut earlier", async () => {
    const shown = await fileWith("上下文窗口压缩与记忆管理的实现细节说明文档\n".repeat(2_000)).readIt({ limit: 2_000 })
    expect(shown).toMatch(/\[Lines 1-\d+ of 2000\. To go on/)
    expect(shown.length).toBeLessThan(60_000)
  })

  test("a file over 32 MB is refused with what to do instead", async () => {
    await expect(fileWith(Buffer.alloc(33 * 1024 * 1024, "a\n")).readIt()).rejects.toThrow(/34\.6 MB.*Grep/)
  })

  test.runIf(isWhole)("any offset and limit of any file are a slice of its lines", async () => {
    const line = fc.string({ unit: fc.constantFrom("a", " ", "é", "第", "\t", "\\"), maxLength: 20 })
    const ends = fc.constantFrom("\n", "\r\n")
    const numbers = fc.record({ offset: fc.integer({ min: 0, max: 30 }), limit: fc.integer({ min: 1, max: 30 }) })
    await fc.assert(
      fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 30 }), ends, numbers, async (lines, end, numbers) => {
        const { readIt } = fileWith(lines.map((line) => line + end).join(""), "sliced.txt")
        const from = Math.max(1, numbers.offset)
        const wanted = lines.slice(from - 1, from - 1 + numbers.limit)
        fc.pre(wanted.length > 0)
        const shown = await readIt(numbers)
        expect(shown.replace(/\n\[Lines .*\]$/, "")).toBe(lineNumbered(wanted, from))
      }),
      { numRuns: size(15, 60) },
    )
  })

  test("an abort ends it", async () => {
    const { at, name } = fileWith("x\n".repeat(100_000))
    const signal = AbortSignal.abort()
    await expect(call(read, { file_path: name }, testContext({ at, signal }))).rejects.toThrow(/abort/i)
  })
})

describe("what Read takes for text", () => {
  test("an empty file is reported as empty", async () => {
    const { readIt, reads, path } = fileWith("", "empty.txt")
    expect(await readIt()).toBe("[empty.txt is empty.]")
    expect(reads.get(path)?.content).toBe("")
  })

  test("byte order marks and line ends do not show", async () => {
    expect(await fileWith("\ufeffone\r\ntwo\r\n").readIt()).toBe("     1\tone\n     2\ttwo")
    expect(await fileWith(Buffer.from("\ufeff你好\n", "utf16le")).readIt()).toBe("     1\t你好")
    expect(await fileWith(Buffer.from("\ufeff你好\n", "utf16le").swap16()).readIt()).toBe("     1\t你好")
  })

  test("Chinese names and contents", async () => {
    expect(await fileWith("内容\n", "说明 文件.txt").readIt()).toBe("     1\t内容")
  })

  test("a binary file is refused with its type and size", async () => {
    const zip = Buffer.concat([Buffer.from("PK\x03\x04\0\0"), Buffer.alloc(1_994)])
    await expect(fileWith(zip, "a.docx").readIt()).rejects.toThrow("a.docx is not text (ZIP archive, 2.0 KB).")
    await expect(fileWith(Buffer.from([1, 0, 2]), "a.dat").readIt()).rejects.toThrow("(dat file, 3 bytes)")
  })
})

describe("what is not a file", () => {
  function workspace() {
    const at = scratchDirectory()
    return { at, tryRead: (file_path: string) => call(read, { file_path }, testContext({ at })) }
  }

  test("a device that never ends is not opened", async () => {
    const { at, tryRead } = workspace()
    symlinkSync("/dev/zero", join(at, "endless.txt"))
    await expect(tryRead("/dev/zero")).rejects.toThrow("is a device, not a file")
    await expect(tryRead("endless.txt")).rejects.toThrow("is a device, not a file")
  })

  test("nor is a pipe that never begins", async () => {
    const { at, tryRead } = workspace()
    execFileSync("mkfifo", [join(at, "pipe")])
    await expect(tryRead("pipe")).rejects.toThrow("is a named pipe")
  })

  test("a directory is reported as one", async () => {
    const { at, tryRead } = workspace()
    mkdirSync(join(at, "folder"))
    await expect(tryRead("folder")).rejects.toThrow("folder is a directory, not a file. List it with Glob")
  })

  test("a missing file comes with a suggestion", async () => {
    const { at, tryRead } = workspace()
    writeFileSync(join(at, "readme.md"), "x")
    await expect(tryRead("README.txt")).rejects.toThrow("Did you mean readme.md")
  })

  test("a directory without rights is reported as that", needs("person"), async () => {
    const { at, tryRead } = workspace()
    mkdirSync(join(at, "closed"))
    writeFileSync(join(at, "closed", "a.txt"), "x")
    chmodSync(join(at, "closed"), 0)
    await expect(tryRead("closed/a.txt")).rejects.toThrow("permission denied")
    chmodSync(join(at, "closed"), 0o700) // allows its removal
  })
})

describe("images and documents", () => {
  const png = (width: number, height: number, padding = 0) => {
    const header = Buffer.alloc(33)
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1").copy(header)
    header.writeUInt32BE(13, 8)
    header.write("IHDR", 12, "latin1")
    header.writeUInt32BE(width, 16)
    header.writeUInt32BE(height, 20)
    return Buffer.concat([header, Buffer.alloc(padding)])
  }
  const blocksOf = async (content: Buffer, name: string) => {
    const { context } = fileWith(content, name)
    return (await call(read, { file_path: name }, context())).content
  }

  test("an image is shown by what it is, not by its name", async () => {
    const image = png(300, 40)
    expect(await blocksOf(image, "picture.jpg")).toEqual([
      { type: "text", text: "picture.jpg: image/png, 300×40 pixels" },
      { type: "image", source: { type: "base64", media_type: "image/png", data: image.toString("base64") } },
    ])
  })

  test("an image the API would refuse is explained instead", async () => {
    await expect(blocksOf(png(9_000, 10), "wide.png")).rejects.toThrow(/more than 8000 pixels on a side.*smaller copy/)
    await expect(blocksOf(png(10, 10, 4_000_000), "heavy.png")).rejects.toThrow(/more than 5242880 bytes/)
    await expect(blocksOf(Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), "torn.png")).rejects.toThrow(/header is damaged/)
  })

  test("a PDF is shown whole, up to the pages a request takes", async () => {
    const pdf = (pages: number) => Buffer.from(`%PDF-1.4\n${"<< /Type /Page >>\n".repeat(pages)}%%EOF`)
    const content = await blocksOf(pdf(3), "paper.pdf")
    expect(typeof content !== "string" && content.filter(isMedia)).toHaveLength(1)
    await expect(blocksOf(pdf(101), "book.pdf")).rejects.toThrow(/more than 100 pages.*pdftotext/)
  })
})

describe("LOOP-8 a repeated read", () => {
  const STUB = /^\[.* unchanged since you read it at 2026-01-01T00:00:00\.000Z \(call call-1\)\. .*\]$/

  test("of an unchanged file points to the earlier one, in one line", async () => {
    const { readIt, name } = fileWith("a\nb\n")
    await readIt()
    expect(await readIt({}, "call-2")).toMatch(STUB)
    expect(await readIt({}, "call-3")).toContain(`${name} is unchanged`)
  })

  test("a stub does not count as a read: the state still names the call that shows the file", async () => {
    const { readIt, reads, path } = fileWith("a\nb\n")
    await readIt()
    await readIt({}, "call-2")
    expect(reads.get(path)?.toolUseId).toBe("call-1")
    forgetCalls(reads, new Set(["call-2"]))
    expect(await readIt({}, "call-3")).toMatch(STUB)
  })

  test("is answered in full once the earlier result was cleared", async () => {
    const { readIt, reads } = fileWith("a\nb\n")
    await readIt()
    forgetCalls(reads, new Set(["call-1"]))
    expect(await readIt({}, "call-2")).toBe("     1\ta\n     2\tb")
  })

  test("is answered in full where the file changed, even within the same tick of the clock", async () => {
    const { readIt, path } = fileWith("a\n")
    await readIt()
    await writeFile(path, "b\n")
    expect(await readIt({}, "call-2")).toBe("     1\tb")
  })

  test("of other lines is answered in full, of the same lines is not", async () => {
    const { readIt } = fileWith("a\nb\nc\n")
    await readIt({ offset: 1, limit: 2 })
    expect(await readIt({ offset: 1, limit: 2 }, "call-2")).toMatch(/^\[Lines 1-2 of .* are unchanged/)
    expect(await readIt({ offset: 2, limit: 2 }, "call-3")).toBe("     2\tb\n     3\tc")
    expect(await readIt({}, "call-4")).toBe("     1\ta\n     2\tb\n     3\tc")
  })

  test("after an edit is answered in full: no result shows the file as it is now", async () => {
    const { readIt, name, context } = fileWith("a\nb\n")
    await readIt()
    await call(edit, { file_path: name, old_string: "b", new_string: "c" }, context("call-2"))
    expect(await readIt({}, "call-3")).toBe("     1\ta\n     2\tc")
  })
})

test("PERM-2 the question names the file that a link points to", async () => {
  const [at, outside] = [scratchDirectory(), scratchDirectory()]
  writeFileSync(join(outside, "secret"), "x")
  symlinkSync(join(outside, "secret"), join(at, "innocent.md"))
  const question = await read.question!({ file_path: "innocent.md" }, testContext({ at }))
  expect(question).toEqual({ kind: "read", summary: `read ${outside}/secret`, paths: [join(outside, "secret")] })
  expect(isReadOnly(read, { file_path: "x" })).toBe(true)
})

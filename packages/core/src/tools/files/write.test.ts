import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { needs } from "../../../test/needs.ts"
import { call, scratchDirectory, testContext, textIn } from "../../../test/tool-context.ts"
import { fileEffects } from "../../views/record/file-effects.ts"
import { isReadOnly } from "../defaults.ts"
import { read } from "./read.ts"
import { FileReads } from "./read-state.ts"
import { write } from "./write.ts"

/** Creates a directory and the context of a conversation that works in it. */
function workspace() {
  const at = scratchDirectory()
  const context = testContext({ at, reads: new FileReads() })
  return {
    at,
    context,
    put: (name: string, content: string | Buffer) => writeFileSync(join(at, name), content),
    get: (name: string) => readFileSync(join(at, name)),
    read: (file_path: string) => call(read, { file_path }, context),
    write: async (file_path: string, content: string) => textIn(await call(write, { file_path, content }, context)),
  }
}

describe("a new file", () => {
  test("is created with its directories", async () => {
    const { write, get } = workspace()
    expect(await write("a/b/新文件.txt", "one\ntwo\n")).toBe("Created a/b/新文件.txt (2 lines).")
    expect(get("a/b/新文件.txt").toString()).toBe("one\ntwo\n")
  })

  test("is known: it can be written again without a read", async () => {
    const { write, get } = workspace()
    await write("a.txt", "one\n")
    expect(await write("a.txt", "two\n")).toContain("Updated a.txt")
    expect(get("a.txt").toString()).toBe("two\n")
  })

  test("the views learn that it is new from the messages", async () => {
    const { write } = workspace()
    const effect = async (content: string) => {
      const output = await write("a.txt", content)
      const call = { tool: "Write", input: { file_path: "a.txt", content }, output, failed: false, uuid: "u" }
      return fileEffects(call as never)[0]?.what
    }
    expect(await effect("one\n")).toBe("created")
    expect(await effect("two\n")).toBe("written")
  })

  test("cannot stand below a file", async () => {
    const { write, put } = workspace()
    put("a.txt", "x")
    await expect(write("a.txt/b.txt", "y")).rejects.toThrow("a part of its path is a file")
  })
})

describe("LOOP-3 an existing file", () => {
  test("must have been read", async () => {
    const { write, put, get } = workspace()
    put("a.txt", "mine\n")
    await expect(write("a.txt", "yours\n")).rejects.toThrow("has not been read in this conversation")
    expect(get("a.txt").toString()).toBe("mine\n")
  })

  test("must be the same since, also if its time is", async () => {
    const { write, put, get, read, at } = workspace()
    put("a.txt", "one\n")
    await read("a.txt")
    const { atime, mtime } = statSync(join(at, "a.txt"))
    put("a.txt", "two\n")
    utimesSync(join(at, "a.txt"), atime, mtime)
    await expect(write("a.txt", "three\n")).rejects.toThrow("has changed since it was read")
    expect(get("a.txt").toString()).toBe("two\n")
    await read("a.txt")
    await write("a.txt", "three\n")
    expect(get("a.txt").toString()).toBe("three\n")
  })

  test("may have been touched", async () => {
    const { write, put, read, at } = workspace()
    put("a.txt", "one\n")
    await read("a.txt")
    utimesSync(join(at, "a.txt"), 1, 1)
    expect(await write("a.txt", "two\n")).toContain("Updated")
  })

  test("what changed comes as a short diff", async () => {
    const { write, put, read } = workspace()
    put("a.txt", "one\ntwo\nthree\n")
    await read("a.txt")
    expect(await write("a.txt", "one\n2\nthree\n")).toBe(
      "Updated a.txt (3 lines).\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three",
    )
    const long = Array.from({ length: 500 }, (_, i) => `new ${i}\n`).join("")
    expect((await write("a.txt", long)).split("\n").length).toBeLessThan(50)
  })

  test("keeps its mode, its line ends, its byte order mark and its encoding", async () => {
    const { write, put, get, read, at } = workspace()
    put("run.sh", "\ufeffa\r\nb\r\n")
    chmodSync(join(at, "run.sh"), 0o750)
    await read("run.sh")
    await write("run.sh", "a\nc\n")
    expect(get("run.sh").toString()).toBe("\ufeffa\r\nc\r\n")
    expect(statSync(join(at, "run.sh")).mode & 0o777).toBe(0o750)

    put("wide.txt", Buffer.from("\ufeffold\n", "utf16le"))
    await read("wide.txt")
    await write("wide.txt", "新\n")
    expect(get("wide.txt")).toEqual(Buffer.from("\ufeff新\n", "utf16le"))
  })

  test("in an encoding that lacks the new characters becomes UTF-8", async () => {
    const { write, put, get, read } = workspace()
    put("old.txt", Buffer.from("Grüße\n", "latin1"))
    await read("old.txt")
    await write("old.txt", "Grüße 你好\n")
    expect(get("old.txt").toString("utf8")).toBe("Grüße 你好\n")
  })

  test("that is binary is left alone", async () => {
    const { write, put, get } = workspace()
    put("a.bin", Buffer.from([1, 0, 2]))
    await expect(write("a.bin", "x")).rejects.toThrow(/is not text \(bin file, 3 bytes\)/)
    expect(get("a.bin")).toEqual(Buffer.from([1, 0, 2]))
  })

  test("with several names keeps them, and a link stays a link", async () => {
    const { write, put, get, read, at } = workspace()
    put("a.txt", "one\n")
    linkSync(join(at, "a.txt"), join(at, "b.txt"))
    symlinkSync("a.txt", join(at, "link.txt"))
    await read("link.txt")
    await write("link.txt", "two\n")
    expect(get("b.txt").toString()).toBe("two\n")
    expect(statSync(join(at, "b.txt")).nlink).toBe(2)
  })

  test("nothing is left next to it, whether it was written or not", async () => {
    const { write, at } = workspace()
    await write("a.txt", "one\n")
    mkdirSync(join(at, "folder"))
    await expect(write("folder", "x")).rejects.toThrow("folder is a directory")
    expect(readdirSync(at).sort()).toEqual(["a.txt", "folder"])
  })

  test("that is read-only stays as it is", needs("person"), async () => {
    const { write, put, read, at } = workspace()
    put("a.txt", "one\n")
    chmodSync(join(at, "a.txt"), 0o444)
    await read("a.txt")
    await expect(write("a.txt", "two\n")).rejects.toThrow("permission denied")
    expect(readFileSync(join(at, "a.txt"), "utf8")).toBe("one\n")
  })

  test("an abort before it is written leaves it", async () => {
    const { write: _, at } = workspace()
    const context = testContext({ at, signal: AbortSignal.abort() })
    await expect(call(write, { file_path: "a.txt", content: "x" }, context)).rejects.toThrow(/abort/i)
    expect(readdirSync(at)).toEqual([])
  })
})

describe("PERM-2 the question", () => {
  test("names what would be written, with links followed, and a diff", async () => {
    const { at, context, put } = workspace()
    const outside = scratchDirectory()
    put("a.txt", "one\n")
    symlinkSync(outside, join(at, "door"))
    expect(await write.question!({ file_path: "a.txt", content: "two\n" }, context)).toEqual({
      kind: "write",
      summary: "write a.txt",
      paths: [join(at, "a.txt")],
      preview: "@@ -1,1 +1,1 @@\n-one\n+two",
    })
    expect(await write.question!({ file_path: "door/new.txt", content: "x\n" }, context)).toMatchObject({
      summary: `create ${outside}/new.txt`,
      paths: [join(outside, "new.txt")],
    })
    expect(isReadOnly(write, { file_path: "a", content: "" })).toBe(false)
  })

  test("asks also where the call will fail: no detail is revealed before it is allowed", async () => {
    const { at, context } = workspace()
    mkdirSync(join(at, "folder"))
    expect(await write.question!({ file_path: "folder", content: "x" }, context)).toMatchObject({ kind: "write" })
  })
})

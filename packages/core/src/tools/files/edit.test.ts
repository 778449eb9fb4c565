import { readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { isWhole, size } from "../../../test/size.ts"
import { call, scratchDirectory, testContext, textIn } from "../../../test/tool-context.ts"
import { isReadOnly } from "../defaults.ts"
import { edit } from "./edit.ts"
import { read } from "./read.ts"
import { FileReads } from "./read-state.ts"
import { replaceText } from "./text-replacement.ts"

/** Creates a directory with one file, `a.txt`, that has been read. */
async function readFileWith(content: string | Buffer) {
  const at = scratchDirectory()
  const path = join(at, "a.txt")
  const context = testContext({ at, reads: new FileReads() })
  writeFileSync(path, content)
  await call(read, { file_path: "a.txt" }, context)
  return {
    at,
    path,
    context,
    now: () => readFileSync(path, "utf8"),
    edit: async (old_string: string, new_string: string, more: object = {}) =>
      textIn(await call(edit, { file_path: "a.txt", old_string, new_string, ...more }, context)),
  }
}

describe("LOOP-3 Edit replaces exactly", () => {
  test("one place, and shows it with line numbers", async () => {
    const { edit, now } = await readFileWith("1\n2\n3\n4\n5\nold\n7\n8\n9\n10\n")
    expect(await edit("old\n7", "new\nnewer\n7")).toBe(
      [
        "Updated a.txt. It now reads:",
        "     3\t3",
        "     4\t4",
        "     5\t5",
        "     6\tnew",
        "     7\tnewer",
        "     8\t7",
        "     9\t8",
        "    10\t9",
        "    11\t10",
      ].join("\n"),
    )
    expect(now()).toBe("1\n2\n3\n4\n5\nnew\nnewer\n7\n8\n9\n10\n")
  })

  test("what is put in is a text, not a pattern", async () => {
    const { edit, now } = await readFileWith("price\n")
    await edit("price", "$& $1 $$ $` \\n")
    expect(now()).toBe("$& $1 $$ $` \\n\n")
  })

  test("a text found several times is refused, with its lines", async () => {
    const { edit, now } = await readFileWith("a\nb\na\n")
    await expect(edit("a", "c")).rejects.toThrow("is in a.txt 2 times (lines 1, 3)")
    expect(now()).toBe("a\nb\na\n")
  })

  test("so is one that overlaps itself", async () => {
    await expect((await readFileWith("aaa")).edit("aa", "b")).rejects.toThrow("2 times")
  })

  test("replace_all changes every occurrence, and shows the first few", async () => {
    const { edit, now } = await readFileWith("foo\n".repeat(30))
    const result = await edit("foo", "bar", { replace_all: true })
    expect(result).toContain("Updated a.txt in 30 places")
    expect(result).toContain("[27 more places]")
    expect(now()).toBe("bar\n".repeat(30))
  })

  test("nothing to do is refused", async () => {
    const { edit } = await readFileWith("a\n")
    await expect(edit("a", "a")).rejects.toThrow("are the same")
    await expect(edit("", "b")).rejects.toThrow("exists and is not empty")
  })

  test("equals plain replacement, whatever the text", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", "\n", "$", "&", "第", "🦀"), maxLength: 60 })
    const place = fc.tuple(fc.nat(59), fc.integer({ min: 1, max: 4 }))
    fc.assert(
      fc.property(text, place, text, (text, [from, length], replacement) => {
        const old = text.slice(from, from + length)
        fc.pre(old !== "")
        const all = replaceText(text, { old, replacement, all: true })
        expect(all).toMatchObject({ state: "replaced", text: text.split(old).join(replacement) })
        const one = replaceText(text, { old, replacement, all: false })
        const isUnique = text.indexOf(old) === text.lastIndexOf(old)
        expect(one).toMatchObject(
          isUnique ? { state: "replaced", text: text.replace(old, () => replacement) } : { state: "ambiguous" },
        )
      }),
    )
  })

  test("on disk as in memory", async () => {
    const { edit, now, path, context } = await readFileWith("")
    const text = fc.string({ unit: fc.constantFrom("a", "b", "\n", "$", "é"), minLength: 1, maxLength: 30 })
    await fc.assert(
      fc.asyncProperty(text, fc.nat(29), text, async (text, from, fresh) => {
        const old = text.slice(from, from + 3)
        fc.pre(old !== "" && old !== fresh)
        writeFileSync(path, text)
        context.reads.forget(path)
        await call(read, { file_path: path }, context)
        await edit(old, fresh, { replace_all: true })
        expect(now()).toBe(text.split(old).join(fresh))
      }),
      { numRuns: size(8, 30) },
    )
  })
})

describe("line ends and encodings stay", () => {
  test("CR LF is found by plain line ends, and put in", async () => {
    const { edit, now } = await readFileWith("a\r\nb\r\nc\r\n")
    await edit("a\nb\n", "x\ny\nz\n")
    expect(now()).toBe("x\r\ny\r\nz\r\nc\r\n")
  })

  test("in a mixed file every line that is not touched keeps its own", () => {
    const mixed = "a\r\nb\nc\r\nd\r\ne\n"
    expect(replaceText(mixed, { old: "c\nd", replacement: "x\ny", all: false })).toMatchObject({
      text: "a\r\nb\nx\r\ny\r\ne\n",
      places: [{ line: 3, lines: 2 }],
    })
  })

  test("with CR LF throughout, an edit is the plain edit with CR LF", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", "\n"), minLength: 1, maxLength: 40 })
    const crlf = (text: string) => text.replaceAll("\n", "\r\n")
    fc.assert(
      fc.property(text, fc.nat(39), text, (text, from, replacement) => {
        const old = text.slice(from, from + 3)
        fc.pre(old !== "" && text.includes("\n"))
        const plain = replaceText(text, { old, replacement, all: true })
        const edited = replaceText(crlf(text), { old, replacement, all: true })
        expect(edited).toEqual(plain.state === "replaced" ? { ...plain, text: crlf(plain.text) } : plain)
      }),
    )
  })

  test("a byte order mark and UTF-16 stay", async () => {
    const marked = await readFileWith("\ufeffone\n")
    await marked.edit("one", "two")
    expect(marked.now()).toBe("\ufefftwo\n")
    const wide = await readFileWith(Buffer.from("\ufeff你好\n", "utf16le"))
    await wide.edit("你", "您")
    expect(readFileSync(wide.path)).toEqual(Buffer.from("\ufeff您好\n", "utf16le"))
  })

  test("Latin-1 stays, and refuses what it cannot hold", async () => {
    const { edit, path } = await readFileWith(Buffer.from("Grüße\n", "latin1"))
    await expect(edit("Grüße", "你好")).rejects.toThrow("is encoded in Latin-1, which lacks characters")
    await edit("Grüße", "Gruß é")
    expect(readFileSync(path)).toEqual(Buffer.from("Gruß é\n", "latin1"))
  })
})

describe("LOOP-3 a file that is not as it was seen", () => {
  test("must have been read", async () => {
    const { context, path } = await readFileWith("a\n")
    context.reads.forget(path)
    const blind = call(edit, { file_path: "a.txt", old_string: "a", new_string: "b" }, context)
    await expect(blind).rejects.toThrow("has not been read in this conversation")
  })

  test("a file replaced between read and edit is refused", async () => {
    const { edit, at, path, now } = await readFileWith("a\n")
    writeFileSync(join(at, "other"), "a\nand more\n")
    renameSync(join(at, "other"), path)
    await expect(edit("a", "b")).rejects.toThrow("has changed since it was read")
    expect(now()).toBe("a\nand more\n")
  })

  test("one edit after the other needs no new read", async () => {
    const { edit, now } = await readFileWith("a b\n")
    await edit("a", "c")
    await edit("b", "d")
    expect(now()).toBe("c d\n")
  })

  test.runIf(isWhole)("edits of one file at the same time are all there in the end", async () => {
    const names = Array.from({ length: 20 }, (_, i) => `<${i}>`)
    const { edit, now } = await readFileWith(names.join("\n"))
    await Promise.all(names.map((name) => edit(name, `${name} done`)))
    expect(now()).toBe(names.map((name) => `${name} done`).join("\n"))
  })

  test("of two conversations that edit at the same time, one learns that the other was first", async () => {
    const { edit: first, context, now } = await readFileWith("a\nb\n")
    const other = testContext({ at: context.directory.get(), reads: (context.reads as FileReads).clone() })
    const [one, two] = await Promise.allSettled([
      first("a", "A"),
      call(edit, { file_path: "a.txt", old_string: "b", new_string: "B" }, other),
    ])
    const oneWasFirst = one.status === "fulfilled"
    const late = oneWasFirst ? two : one
    expect(late).toMatchObject({
      status: "rejected",
      reason: { message: expect.stringContaining("has changed since") },
    })
    expect(now()).toBe(oneWasFirst ? "A\nb\n" : "a\nB\n")
  })
})

describe("a text that is not there", () => {
  test("comes with the lines most like it", async () => {
    const { edit } = await readFileWith("function alpha() {\n  return computeTotal(items)\n}\n")
    await expect(edit("  return computeTotals(item)", "x")).rejects.toThrow(
      "These lines are the most like it:\n     2\t  return computeTotal(items)",
    )
  })

  test("differs by white space alone", async () => {
    const { edit } = await readFileWith("if (a) {\n\treturn b\n}\n")
    await expect(edit("if (a) {\n  return b\n}", "x")).rejects.toThrow(
      /Only the white space differs.*:\n {5}1\tif \(a\)/s,
    )
  })

  test("may be one with line numbers in it", async () => {
    const { edit } = await readFileWith("alpha\nbeta\n")
    await expect(edit("     1\talpha\n     2\tbeta", "x")).rejects.toThrow("leave them out")
  })

  test("or nothing like anything", async () => {
    const { edit } = await readFileWith("alpha\n")
    await expect(edit("完全不同", "x")).rejects.toThrow("Nothing like it is there either")
  })

  test.runIf(isWhole)("is looked for in a file of 10 MB in a moment", async () => {
    const { edit } = await readFileWith(`${"abcdefghi ".repeat(10)}\n`.repeat(100_000))
    await expect(edit("abcdefghi abcdefghj", "x")).rejects.toThrow("old_string is not in a.txt")
  })
})

describe("an empty old_string", () => {
  test("creates a file, with its directories", async () => {
    const { context, at } = await readFileWith("x")
    const result = await call(edit, { file_path: "new/b.txt", old_string: "", new_string: "one\n" }, context)
    expect(textIn(result)).toBe("Created new/b.txt (1 line).")
    expect(readFileSync(join(at, "new/b.txt"), "utf8")).toBe("one\n")
  })

  test("fills an empty file", async () => {
    const { edit, now } = await readFileWith("")
    expect(await edit("", "one\n")).toBe("Updated a.txt. It now reads:\n     1\tone")
    expect(now()).toBe("one\n")
    await expect(edit("two", "three")).rejects.toThrow("old_string is not in")
  })

  test("any other needs a file", async () => {
    const { context } = await readFileWith("x")
    const missing = call(edit, { file_path: "b.txt", old_string: "a", new_string: "b" }, context)
    await expect(missing).rejects.toThrow("b.txt does not exist")
  })
})

describe("PERM-2 the question", () => {
  test("names the file that a link points to and shows the change", async () => {
    const { at, context, path } = await readFileWith("one\ntwo\n")
    symlinkSync("a.txt", join(at, "link"))
    const question = await edit.question!({ file_path: "link", old_string: "two", new_string: "2" }, context)
    expect(question).toEqual({
      kind: "write",
      summary: "edit a.txt",
      paths: [path],
      preview: "@@ -1,2 +1,2 @@\n one\n-two\n+2",
    })
    expect(isReadOnly(edit, { file_path: "a", old_string: "", new_string: "" })).toBe(false)
  })

  test("says nothing of a file's text where the edit would fail", async () => {
    const { context, path } = await readFileWith("secret = 1\n")
    const question = await edit.question!({ file_path: "a.txt", old_string: "secrets = 2", new_string: "x" }, context)
    expect(question).toEqual({ kind: "write", summary: "edit a.txt", paths: [path] })
  })
})

/** BEY-7: files that a policy attaches again come from the recording. */
import { describe, expect, test } from "vitest"
import { conversation } from "../../../core/test/builders.ts"
import { RecordedFiles } from "./recorded-files.ts"

const PATH = "/p/a.ts"
const page = (first: number, lines: readonly string[]) => lines.map((line, at) => `${first + at}\t${line}`).join("\n")
const read = (input: object = {}) => ["Read", { file_path: PATH, ...input }] as const

function filesOf(built: ReturnType<typeof conversation>): RecordedFiles {
  const files = new RecordedFiles()
  for (const entry of built.messages) files.take(entry)
  return files
}

const textIn = async (files: RecordedFiles) => (await files.readFile(PATH, new AbortController().signal))?.text
const readIn = (files: RecordedFiles) => new Map(files.reads.entries()).get(PATH)

describe("BEY-7 the files of a recording", () => {
  test("a file is known as it was last read, edited or written, without line numbers", async () => {
    const built = conversation().user("Look.")
    built.call(...read()).result(page(1, ["one", "two", "one"]))
    expect(await textIn(filesOf(built))).toBe("one\ntwo\none")
    expect(readIn(filesOf(built))).toMatchObject({ content: "one\ntwo\none", toolUseId: expect.any(String) })
    built.call("Edit", { file_path: PATH, old_string: "two", new_string: "$& 2" }).result("Edited.")
    expect(await textIn(filesOf(built))).toBe("one\n$& 2\none")
    built.call("Edit", { file_path: PATH, old_string: "one", new_string: "1", replace_all: true }).result("Edited.")
    expect(await textIn(filesOf(built))).toBe("1\n$& 2\n1")
    built.call("Write", { file_path: PATH, content: "all new" }).result("Written.")
    expect(await textIn(filesOf(built))).toBe("all new")
    expect(readIn(filesOf(built))?.toolUseId).toBeUndefined()
  })

  test("of a file read in part, the other lines count like those that are shown", async () => {
    const built = conversation().user("Look.")
    built.call(...read({ offset: 3, limit: 2 })).result(`${page(3, ["c", "d"])}\n[Lines 3-4 of 6. To go on: offset 5.]`)
    const files = filesOf(built)
    expect((await textIn(files))?.split("\n")).toHaveLength(6)
    expect((await textIn(files))?.split("\n").slice(2, 4)).toEqual(["c", "d"])
    expect(readIn(files)?.range).toEqual({ offset: 3, limit: 2 })
    built.call(...read({ offset: 1, limit: 2 })).result(page(1, ["a", "b"]))
    expect((await textIn(filesOf(built)))?.split("\n").slice(0, 4)).toEqual(["a", "b", "c", "d"])
  })

  test("only what the recording shows can be shown again, and only what a result shows is still read", async () => {
    const built = conversation().user("Look.")
    built.call(...read()).result(page(1, ["one"]))
    built.call(...read()).result(`[${PATH} is unchanged since you read it at 10:00 (call x).]`)
    const files = filesOf(built)
    expect([files.mayRead(PATH), files.mayRead("/p/b.ts")]).toEqual([true, false])
    expect(await textIn(files)).toBe("one")
    files.forget([readIn(files)!.toolUseId!])
    expect(readIn(files)).toBeUndefined()
    expect(await textIn(files)).toBe("one")
    built.call("Read", { file_path: PATH }).result("No such file.", true)
    expect(await textIn(filesOf(built))).toBe("one")
  })
})

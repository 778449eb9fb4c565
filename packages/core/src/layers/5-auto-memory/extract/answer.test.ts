import { describe, expect, test } from "vitest"
import { readAnswer } from "./extraction.ts"

const file = (name: string, text = "---\nname: A\n---\n\nText.") => `<memory file="${name}">\n${text}\n</memory>`

describe("L5-1 memories as text", () => {
  test("every file between its tags, with any text around them", () => {
    const answer = readAnswer(`I keep two things.\n\n${file("a.md")}\n\n${file("b.md", "Only text.")}\nDone.`)
    expect(answer).toEqual({
      state: "files",
      texts: new Map([
        ["a.md", "---\nname: A\n---\n\nText.\n"],
        ["b.md", "Only text.\n"],
      ]),
    })
  })

  test("nothing to remember is an answer too", () => {
    expect(readAnswer("Nothing to remember.")).toEqual({ state: "files", texts: new Map() })
  })

  test.each([
    ["no files and no word about it", "I looked around.", "has no memory"],
    ["a file without an end", '<memory file="a.md">\ntext', "has no end"],
    ["a file inside another", '<memory file="a.md">\n<memory file="b.md">\nx\n</memory>', "has no end"],
    ["the same file twice", `${file("a.md")}\n${file("a.md")}`, "twice"],
    ["an empty file", '<memory file="a.md">\n\n</memory>', "is empty"],
    ["a file that leads elsewhere", file("../settings.json"), "is not the name of a memory file"],
    ["the index", file("MEMORY.md"), "is not the name of a memory file"],
    ["the history", file(".history/a.md"), "is not the name of a memory file"],
    ["a file that is too long", file("a.md", "x".repeat(30_000)), "is too long"],
  ])("%s: none is used", (_, answer, why) => {
    expect(readAnswer(answer)).toEqual({ state: "unusable", reason: expect.stringContaining(why) })
  })
})

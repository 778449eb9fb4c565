import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { describe, expect, test } from "vitest"
import { notesAt } from "../../../test/notes-at.ts"
import { scratchDirectory } from "../../../test/tool-context.ts"
import { openNotes } from "./notes.ts"

const place = () => join(scratchDirectory(), "session-memory", "c.md")
const open = (path: string, template = "# Goal\n") => openNotes(notesAt(path), template)

describe("the notes' file", () => {
  test("is made from the template, for its owner alone, and nothing else remains", async () => {
    const path = place()
    expect(await open(path)).toBe("# Goal\n")
    expect(readFileSync(path, "utf8")).toBe("# Goal\n")
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700)
    expect(readdirSync(dirname(path))).toEqual(["c.md"])
  })

  test("L3-7 an existing file is read as it is, and a file with nothing in it counts as none", async () => {
    const path = place()
    await open(path)
    writeFileSync(path, "mine\n")
    expect(await open(path)).toBe("mine\n")
    expect(readFileSync(path, "utf8")).toBe("mine\n")
    writeFileSync(path, " \n")
    expect(await open(path)).toBe("# Goal\n")
  })

  test("L3-4 a link in its place, or in its directory's place, is refused, and nothing is written through it", async () => {
    const path = place()
    const elsewhere = join(scratchDirectory(), "secret.md")
    writeFileSync(elsewhere, "secret")
    mkdirSync(dirname(path))
    symlinkSync(elsewhere, path)
    await expect(open(path)).rejects.toMatchObject({ code: "notes-file" })
    await expect(open(path)).rejects.toThrow(/is a symbolic link\. Nothing was written/)
    const other = place()
    symlinkSync(dirname(elsewhere), dirname(other))
    await expect(open(other)).rejects.toMatchObject({ code: "notes-file" })
    expect(readdirSync(dirname(elsewhere))).toEqual(["secret.md"])
    expect(readFileSync(elsewhere, "utf8")).toBe("secret")
  })

  test("L3-7 a file that appears while the notes are made is the person's and stays", async () => {
    const path = place()
    const journal = notesAt(path)
    const raced = {
      ...journal,
      async writeNotes(text: string, expected?: string | null) {
        writeFileSync(path, "mine\n")
        return journal.writeNotes(text, expected)
      },
    }
    mkdirSync(dirname(path))
    expect(await openNotes(raced, "# Goal\n")).toBe("mine\n")
    expect(readFileSync(path, "utf8")).toBe("mine\n")
  })

  test("a directory in its place is refused", async () => {
    const path = place()
    mkdirSync(path, { recursive: true })
    await expect(open(path)).rejects.toThrow(/is not a file/)
  })
})

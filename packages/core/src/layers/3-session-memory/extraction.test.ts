import { spawn } from "node:child_process"
import { once } from "node:events"
import { closeSync, openSync, readFileSync, realpathSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, onTestFinished, test } from "vitest"
import { notesAt } from "../../../test/notes-at.ts"
import { isWhole } from "../../../test/size.ts"
import { scratchDirectory, testContext } from "../../../test/tool-context.ts"
import type { Model } from "../../model/model.ts"
import { findModel } from "../../tokens/models.ts"
import { edit } from "../../tools/files/edit.ts"
import { FileReads } from "../../tools/files/read-state.ts"
import { defaultText, openNotes, parseNotes } from "./notes.ts"
import { extractNotes } from "./write.ts"

const WRITER = fileURLToPath(new URL("../../../test/notes-writer.ts", import.meta.url))
const KILLS = 3

test("where the window has no room for the prompt, no model is asked", async () => {
  let asked = 0
  const model: Model = {
    name: "claude-opus-4-6",
    provider: "test",
    facts: findModel("claude-opus-4-6").facts,
    // biome-ignore lint/correctness/useYield: it ends before it yields anything
    async *stream() {
      asked++
      throw new Error("asked")
    },
  }
  const extract = (room: number) =>
    extractNotes(
      { model, tools: [edit], reads: new FileReads(), toolContext: testContext() },
      {
        journal: notesAt(join(scratchDirectory(), "session-memory", "c.md")),
        request: { model: model.name, max_tokens: 100, messages: [{ role: "user", content: "hi" }] },
        openCalls: [],
        limits: { section: 2_000, total: 12_000 },
        estimate: (text) => text.length / 4,
        room,
        now: new Date(0),
        signal: new AbortController().signal,
      },
    )
  expect(await extract(500)).toEqual({ state: "no-room" })
  expect(asked).toBe(0)
  expect(await extract(5_000)).toMatchObject({ state: "not-noted", outcome: { ended: "failed", turns: 0 } })
  expect(asked).toBe(1)
})

test.runIf(isWhole)("L3-4 a process killed while it edits the notes leaves them whole", async () => {
  const path = join(scratchDirectory(), "session-memory", "c.md")
  for (let kill = 0; kill < KILLS; kill++) {
    const writer = spawn(process.execPath, [WRITER, path], { stdio: ["ignore", "pipe", "inherit"] })
    const exit = once(writer, "exit")
    for (let edits = 0; edits <= kill; edits++) await Promise.race([once(writer.stdout, "data"), exit])
    writer.kill("SIGKILL")
    expect(await exit).toEqual([null, "SIGKILL"])
    const { sections } = parseNotes(readFileSync(path, "utf8"))
    expect(sections).toHaveLength(10)
    expect(sections[9]!.body).toMatch(/^(?:- step \d+\n)+\n?$/)
  }
})

test("L3-4 an edit puts new notes in the place of the old ones: at no moment is there half of them", async () => {
  const path = join(scratchDirectory(), "session-memory", "c.md")
  const text = await openNotes(notesAt(path), defaultText("template.md"))
  const context = testContext()
  context.reads.set(realpathSync(path), { content: text, modifiedMs: 0, at: "" })
  const before = openSync(path, "r") // a reader while it is edited
  onTestFinished(() => closeSync(before))
  await edit.execute({ file_path: path, old_string: "# Worklog", new_string: "# Steps" }, context)
  expect(readFileSync(before, "utf8")).toBe(text)
  expect(readFileSync(path, "utf8")).toBe(text.replace("# Worklog", "# Steps"))
})

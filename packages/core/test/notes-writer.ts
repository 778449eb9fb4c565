/** Edits a notes file repeatedly until it is killed, and prints each edit. A test runs it as a process: `node notes-writer.ts <path>`. */
import { realpath } from "node:fs/promises"
import { defaultText, openNotes } from "../src/layers/3-session-memory/notes.ts"
import { edit } from "../src/tools/files/edit.ts"
import { FileReads } from "../src/tools/files/read-state.ts"
import type { ToolContext } from "../src/tools/tool.ts"
import { notesAt } from "./notes-at.ts"

const [path] = process.argv.slice(2)
const { signal } = new AbortController()
const reads = new FileReads()
const clock = { now: () => new Date(0) }
const context = {
  reads,
  signal,
  clock,
  env: {},
  directory: { get: () => "/", set: () => undefined },
} as unknown as ToolContext

for (;;) {
  const content = await openNotes(notesAt(path!), defaultText("template.md"))
  reads.set(await realpath(path!), { content, modifiedMs: 0, at: "" })
  const lines = content.trimEnd().split("\n")
  const last = lines.at(-1)!
  await edit.execute({ file_path: path!, old_string: last, new_string: `${last}\n- step ${lines.length}` }, context)
  process.stdout.write("edited\n")
}

/**
 * One update of the notes, by a fork. They are read first, so the fork sees what their owner wrote by hand. Where they are in a file and the
 * conversation has our Edit tool, the fork changes the file with it. Elsewhere it answers with text, which is checked and written here.
 */

import { fillPrompt } from "../../base/prompt-file.ts"
import type { Tool } from "../../tools/tool.ts"
import { openNotes } from "./kept-notes.ts"
import { measureNotes, sizeReminder } from "./limits.ts"
import type { ExtractionTask, Extractor, Written } from "./notes-update.ts"
import { loadTexts, ownText } from "./prompt.ts"
import { writeAsText } from "./write-as-text.ts"
import { EDIT, writeWithEdit } from "./write-with-edit.ts"

export type Extraction = { readonly state: "no-room" } | Written

/** How the fork writes. */
export type Writing = "with-edit" | "as-text"

const HOW = "{{how}}"

export async function extractNotes(extractor: Extractor, task: ExtractionTask): Promise<Extraction> {
  const { template, prompt } = await loadTexts(extractor.configDirectory)
  const { journal, left } = task
  const path = journal.notesPath
  // an edit in the same moment stays: then nothing is replaced
  if (left) await journal.writeNotes(left.text || template, left.instead)
  const notes = await openNotes(journal, template)
  const writing = path !== undefined && (await hasOurEdit(extractor.tools)) ? "with-edit" : "as-text"
  const guidance = (extractor.guidance?.() ?? []).filter((text) => text.trim() !== "")
  const directive = notesPrompt(prompt, { ...task, writing, notes, path, location: journal.location, guidance })
  if (task.estimate(directive) > task.room) return { state: "no-room" }
  const update = { ...task, template, notes, directive }
  return path !== undefined && writing === "with-edit"
    ? writeWithEdit(extractor, { ...update, path })
    : writeAsText(extractor, update)
}

/** Another tool with that name takes other inputs, and could not write the notes. */
async function hasOurEdit(tools: readonly Tool[]): Promise<boolean> {
  const found = tools.find(({ name }) => name === EDIT)
  if (!found) return false
  const { edit } = await import("../../tools/files/edit.ts") // loads a schema library
  return found.inputSchema === edit.inputSchema
}

export interface NotesPromptInput extends Pick<ExtractionTask, "limits" | "estimate"> {
  /** What they say now. */
  readonly notes: string
  /** Their file, if the store keeps files. */
  readonly path?: string | undefined
  /** Of the journal, for a prompt of the user's own that names the file. */
  readonly location: string
  readonly writing: Writing
  /** What the person wants of summaries. */
  readonly guidance?: readonly string[]
}

/** The prompt with its values, and a reminder where the notes are too large. */
export function notesPrompt(prompt: string, input: NotesPromptInput): string {
  const { notes, path, location, limits, estimate, writing, guidance = [] } = input
  const how = ownText(`how-${writing}.md`).trimEnd()
  const filled = fillPrompt(prompt, {
    notes: notes.trimEnd(),
    where: path === undefined ? "kept as a text of the conversation" : `in the file ${path}`,
    path: path ?? location,
    section_limit: String(limits.section),
    limit: String(limits.total),
    how,
  })
  // a prompt of the user's own may not say how to answer, and without that no answer can be used
  const isHowMissing = writing === "as-text" && !prompt.includes(HOW)
  const reminder = sizeReminder(measureNotes(notes, estimate), limits)
  return [
    filled.trimEnd(),
    ...(isHowMissing ? [how] : []),
    ...(guidance.length > 0 ? [`What the user wants of it:\n${guidance.join("\n\n")}`] : []),
    ...(reminder === undefined ? [] : [reminder]),
  ].join("\n\n")
}

/**
 * One update of the notes, by a fork. The file is read first, so the fork sees what its owner wrote by hand. Where the conversation has our
 * Edit tool, the fork changes the file with it. Elsewhere it answers with text, and the text is checked and written here.
 */

import { fillPrompt } from "../../base/prompt-file.ts"
import type { Tool } from "../../tools/tool.ts"
import { measureNotes, sizeReminder } from "./limits.ts"
import { openNotesFile, replaceNotes } from "./notes-file.ts"
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
  if (task.instead !== undefined) await replaceNotes({ path: task.path, text: task.instead })
  const file = await openNotesFile({ ...task, template })
  const writing = (await hasOurEdit(extractor.tools)) ? "with-edit" : "as-text"
  const directive = notesPrompt(prompt, { ...task, writing, notes: file.text, path: file.given })
  if (task.estimate(directive) > task.room) return { state: "no-room" }
  const write = writing === "with-edit" ? writeWithEdit : writeAsText
  return write(extractor, { ...task, template, file, directive })
}

/** Another tool with that name takes other inputs, and could not write the notes. */
async function hasOurEdit(tools: readonly Tool[]): Promise<boolean> {
  const found = tools.find(({ name }) => name === EDIT)
  if (!found) return false
  const { edit } = await import("../../tools/files/edit.ts") // loads a schema library
  return found.inputSchema === edit.inputSchema
}

export interface NotesPromptInput extends Pick<ExtractionTask, "path" | "limits" | "estimate"> {
  /** What the file holds now. */
  readonly notes: string
  readonly writing: Writing
}

/** The prompt with its values, and a reminder where the notes are too large. */
export function notesPrompt(prompt: string, { notes, path, limits, estimate, writing }: NotesPromptInput): string {
  const how = ownText(`how-${writing}.md`).trimEnd()
  const filled = fillPrompt(prompt, { notes: notes.trimEnd(), path, section_limit: String(limits.section), how })
  // a prompt of the user's own may not say how to answer, and without that no answer can be used
  const isHowMissing = writing === "as-text" && !prompt.includes(HOW)
  const reminder = sizeReminder(measureNotes(notes, estimate), limits)
  return [filled.trimEnd(), ...(isHowMissing ? [how] : []), ...(reminder === undefined ? [] : [reminder])].join("\n\n")
}

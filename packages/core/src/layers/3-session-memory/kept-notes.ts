/**
 * The notes as the store keeps them. They belong to the person: they are read as they are, made from the template where they are missing, and
 * never overwritten, unless they hold only what we noted on a branch that was left.
 */
import { StrataError } from "../../base/errors.ts"
import type { Journal } from "../../journal/store.ts"

export type NotesJournal = Pick<Journal, "location" | "notesPath" | "readNotes" | "writeNotes">

/** The notes as they are now. */
export async function openNotes(journal: NotesJournal, template: string): Promise<string> {
  const current = await journal.readNotes()
  if (current !== undefined && current.trim() !== "") return current
  if (await journal.writeNotes(template, current ?? null)) return template
  const made = await journal.readNotes() // someone wrote in the same moment
  if (made !== undefined) return made
  throw new StrataError(
    `No notes were taken: those of ${journal.location} were removed while they were being created. The next update tries again.`,
    { code: "notes-file" },
  )
}

/** For a person: where the notes are. */
export const whereNotesAre = (path: string | undefined): string =>
  path === undefined ? "kept with the conversation" : `in ${path}`

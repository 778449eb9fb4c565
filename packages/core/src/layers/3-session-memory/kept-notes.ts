/**
 * The notes as the store keeps them. They belong to the person: they are read as they are, made from the template where they are missing, and
 * never overwritten, unless they hold only what we noted on a branch that was left. All branches share one text; every update stores a
 * copy next to the journal, and after going back the notes of this branch come from there. If someone has edited the text since, the edit
 * stays.
 */
import { hash } from "node:crypto"
import { StrataError } from "../../base/errors.ts"
import type { Journal } from "../../journal/store.ts"
import type { LayerContext } from "../layer.ts"

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

export type BranchNotes =
  /** They are in place. Their owner may have edited them. */
  | { readonly state: "in-place"; readonly text: string }
  /** Another branch's notes are in their place, unedited: `instead`. `text`: this branch's notes; absent where it has none. */
  | { readonly state: "kept"; readonly text?: string; readonly instead: string }
  /** Another branch's notes are in their place, and someone has edited them. */
  | { readonly state: "edited" }
  /** None could be read. */
  | { readonly state: "none" }

/** The name of the stored copy. Equal notes have the same name. */
export const keptName = (text: string): string => `notes-${hash("sha256", text, "hex")}.md`

export async function notesOfBranch(context: LayerContext): Promise<BranchNotes> {
  const { views, journal } = context
  const text = await journal.readNotes().catch(() => undefined) // a link, a pipe, not text, no permission: it makes no difference here
  if (text === undefined) return { state: "none" }
  const { kept, inFile } = views.notes
  if (!inFile || keptName(text) === kept) return { state: "in-place", text }
  if (keptName(text) !== inFile.kept) return { state: "edited" }
  const own = kept === undefined ? undefined : (await journal.readBlob(kept))?.toString()
  // the name is a hash of the text, so a damaged copy shows
  return { state: "kept", instead: text, ...(own !== undefined && keptName(own) === kept ? { text: own } : {}) }
}

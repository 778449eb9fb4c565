/**
 * The notes of the branch that the conversation is on. All branches share one file, so after going back it holds the notes of the branch
 * that was left. Every update stores a copy beside the journal, and the notes of this branch come from there. If someone has edited the
 * file since, the edit stays.
 */
import { hash } from "node:crypto"
import type { LayerContext } from "../layer.ts"
import { readNotesText } from "./notes-file.ts"

export type BranchNotes =
  /** They are in the file. Its owner may have edited them. */
  | { readonly state: "in-file"; readonly text: string }
  /** The file holds another branch's notes, unedited. `text`: this branch's notes; absent where it has none. */
  | { readonly state: "kept"; readonly text?: string }
  /** The file holds another branch's notes, and someone has edited them. */
  | { readonly state: "edited" }
  /** No file could be read. */
  | { readonly state: "none" }

/** The name of the stored copy. Equal notes have the same name. */
export const keptName = (text: string): string => `notes-${hash("sha256", text, "hex")}.md`

export async function notesOfBranch({ views, journal, now, signal }: LayerContext): Promise<BranchNotes> {
  const path = journal.notesPath
  const text = path === undefined ? undefined : await readNotesText({ path, now, signal })
  if (text === undefined) return { state: "none" }
  const { kept, inFile } = views.notes
  if (!inFile || keptName(text) === kept) return { state: "in-file", text }
  if (keptName(text) !== inFile.kept) return { state: "edited" }
  const own = kept === undefined ? undefined : (await journal.readBlob(kept))?.toString()
  // the name is a hash of the text, so a damaged copy shows
  return { state: "kept", ...(own !== undefined && keptName(own) === kept ? { text: own } : {}) }
}

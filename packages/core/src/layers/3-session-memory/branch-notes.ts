/**
 * The notes of the branch that the conversation is on. There is one file for all branches, so after going back it holds what was noted on
 * the branch that was left. Every update keeps what it left behind in the journal's store: from there come the notes of this branch, unless
 * somebody has edited the file since, which is respected (L3-7).
 */
import { hash } from "node:crypto"
import type { LayerContext } from "../layer.ts"
import { readNotesText } from "./notes-file.ts"

export type BranchNotes =
  /** They stand in the file, as its owner may have edited them. */
  | { readonly state: "in-file"; readonly text: string }
  /** The file holds another branch's notes, untouched. `text`: this branch's; nothing where none were taken on it. */
  | { readonly state: "kept"; readonly text?: string }
  /** The file holds another branch's notes, and somebody has edited them since. */
  | { readonly state: "edited" }
  /** There is no file that could be read. */
  | { readonly state: "none" }

/** What notes are kept under: equal notes have one name. */
export const keptName = (text: string): string => `notes-${hash("sha256", text, "hex")}.md`

export async function notesOfBranch({ views, journal, now, signal }: LayerContext): Promise<BranchNotes> {
  const path = journal.notesPath
  const text = path === undefined ? undefined : await readNotesText({ path, now, signal })
  if (text === undefined) return { state: "none" }
  const { kept, inFile } = views.notes
  if (!inFile || keptName(text) === kept) return { state: "in-file", text }
  if (keptName(text) !== inFile.kept) return { state: "edited" }
  const own = kept === undefined ? undefined : await journal.readBlob(kept)
  return { state: "kept", ...(own ? { text: own.toString() } : {}) }
}

/**
 * The notes of the branch that the conversation is on. All branches share one text, so after going back it is that of the branch
 * that was left. Every update stores a copy beside the journal, and the notes of this branch come from there. If someone has edited the
 * text since, the edit stays.
 */
import { hash } from "node:crypto"
import type { LayerContext } from "../layer.ts"

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

export async function notesOfBranch({ views, journal }: LayerContext): Promise<BranchNotes> {
  const text = await journal.readNotes().catch(() => undefined) // a link, a pipe, not text, no permission: it makes no difference here
  if (text === undefined) return { state: "none" }
  const { kept, inFile } = views.notes
  if (!inFile || keptName(text) === kept) return { state: "in-place", text }
  if (keptName(text) !== inFile.kept) return { state: "edited" }
  const own = kept === undefined ? undefined : (await journal.readBlob(kept))?.toString()
  // the name is a hash of the text, so a damaged copy shows
  return { state: "kept", instead: text, ...(own !== undefined && keptName(own) === kept ? { text: own } : {}) }
}

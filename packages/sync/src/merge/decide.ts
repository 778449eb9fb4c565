/**
 * Decides what happens to one memory on two machines, by comparing both sides with the state after the last sync. A memory that was
 * forgotten on one machine does not come back from the other. Where both changed the same lines, both texts are kept.
 */
import { hashOf, mergeFile } from "@strata/core/memory-files"
import type { LocalState } from "./local-state.ts"
import { knownTexts, type SyncedMemories } from "./synced-memories.ts"

/** `mine`: only this user writes to the remote. `shared`: others do too, so its content does not count as stated by the user. */
export type RemoteTrust = "mine" | "shared"

export type Decision =
  | { readonly kind: "same" | "send" | "receive" | "remove-here" | "remove-there" | "keep-both" | "forgotten" }
  | { readonly kind: "merge"; readonly text: string }

export interface MemorySides {
  readonly here: Pick<LocalState, "files" | "changes" | "texts" | "base">
  readonly there: SyncedMemories
  readonly trust: RemoteTrust
}

/** Returns a function that decides for one path at a time. */
export function createDecider({ here, there, trust }: MemorySides): (path: string) => Promise<Decision> {
  const { base } = here
  const known = { here: knownTexts(here), there: knownTexts(there) }
  const current = { here: currentTexts(here), there: currentTexts(there) }
  const wasForgotten = (side: "here" | "there", text: string) =>
    known[side].has(hashOf(text)) && !current[side].has(hashOf(text))

  const forgottenHere: Decision = { kind: trust === "mine" ? "remove-there" : "forgotten" }

  /** Without a previous sync, the histories show which text is older. */
  function first(ours: string | null, theirs: string | null): Decision {
    if (ours === null) return wasForgotten("here", theirs!) ? forgottenHere : { kind: "receive" }
    if (theirs === null) return { kind: trust === "mine" && wasForgotten("there", ours) ? "remove-here" : "send" }
    if (known.here.has(hashOf(theirs))) return { kind: "send" }
    return { kind: known.there.has(hashOf(ours)) ? "receive" : "keep-both" }
  }

  return async (path) => {
    const [ours, theirs] = [here.files.get(path)?.text ?? null, there.files.get(path)?.text ?? null]
    if (ours === theirs) return { kind: "same" }
    if (!base) return first(ours, theirs)
    const before = Object.hasOwn(base.files, path) ? base.files[path]! : null
    const isAsBefore = (text: string | null) => (text === null ? null : hashOf(text)) === before
    if (isAsBefore(theirs)) return { kind: ours === null ? "remove-there" : "send" }
    if (isAsBefore(ours)) {
      if (theirs === null) return { kind: "remove-here" }
      // another user may send a memory again that this user has forgotten
      return ours === null && trust === "shared" && wasForgotten("here", theirs) ? forgottenHere : { kind: "receive" }
    }
    if (ours === null) return { kind: isForgottenByUser(here, path) ? "remove-there" : "receive" }
    if (theirs === null) return { kind: isForgottenByUser(there, path) ? "remove-here" : "send" }
    const text = before === null ? null : (here.texts.get(before) ?? null)
    const merged = await mergeFile({ base: text, current: ours, text: theirs })
    return merged === "conflict" || merged === null ? { kind: "keep-both" } : { kind: "merge", text: merged }
  }
}

const currentTexts = ({ files }: Pick<SyncedMemories, "files">): ReadonlySet<string> =>
  new Set([...files.values()].map(({ text }) => hashOf(text)))

/** An edit outweighs the removal of a memory by a dream, but not a removal by the user. */
function isForgottenByUser({ changes }: Pick<SyncedMemories, "changes">, path: string): boolean {
  const removals = [...changes.values()].filter(({ files }) =>
    files.some((edit) => edit.path === path && edit.after === undefined),
  )
  return removals.sort((a, b) => (a.at < b.at ? -1 : 1)).at(-1)?.by === "person"
}

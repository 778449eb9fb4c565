/**
 * A branch at a message that the last compaction kept. Going back to it alone would bring back everything that was summarised, so the
 * compaction is written again for the part of the tail that stays. What is before that message keeps its bytes.
 */
import { type Draft, type Entry, isBoundaryEntry, isDecision, isMessage } from "../../journal/entries.ts"
import type { Uuid } from "../../messages/messages.ts"
import type { Engine } from "../engine.ts"

/** Resolves with whether it was such a message. */
export async function branchInTail(engine: Engine, uuid: Uuid): Promise<boolean> {
  const { record, views } = engine
  if (views.compactions.ends.has(uuid)) return false // the last one of the tail: an ordinary rewind keeps the boundary
  const { entries } = await record.journal.tail()
  const written = compactionIn(entries)
  const [boundary] = written
  const { preservedMessages, headMessages = [] } =
    (boundary && isBoundaryEntry(boundary) && boundary.compactMetadata) || {}
  const kept = preservedMessages?.uuids
  const at = kept?.indexOf(uuid) ?? -1
  if (!kept || at < headMessages.length || views.compactions.last?.boundary !== boundary!.uuid) return false
  await record.rewind(uuid)
  await record.append(copied(written, { kept: kept.slice(0, at + 1), newUuid: () => record.ids.uuid() }))
  engine.prompt.compareAgain()
  engine.preparer.forgetUndecided()
  await record.recordSession()
  return true
}

/** What a compaction wrote: from the boundary to the decision that ends it. */
function compactionIn(entries: readonly Entry[]): readonly Entry[] {
  const end = entries.findIndex((entry) => isDecision(entry) && entry.subtype === "compacted")
  return end < 0 || !isBoundaryEntry(entries[0]!) ? [] : entries.slice(0, end + 1)
}

interface Copying {
  readonly kept: readonly Uuid[]
  readonly newUuid: () => Uuid
}

/** The same with ids of their own, for fewer kept messages. */
function copied(entries: readonly Entry[], { kept, newUuid }: Copying): readonly Draft[] {
  const ids = new Map(entries.filter(isMessage).map(({ uuid }) => [uuid, newUuid()]))
  const renamed = (uuid: Uuid | undefined) => ids.get(uuid ?? "") ?? uuid
  return entries
    .filter((entry) => !(isDecision(entry) && entry.subtype === "session"))
    .map((entry): Draft => {
      const { uuid, parentUuid: _, timestamp: __, ...draft } = entry
      if (isDecision(entry))
        return (entry.subtype === "compacted" ? { ...draft, boundary: renamed(entry.boundary), kept } : draft) as Draft
      if (!isBoundaryEntry(entry)) return { ...draft, uuid: renamed(uuid) } as Draft
      const { preservedMessages, headMessages = [], preservedSegment: ___, ...metadata } = entry.compactMetadata!
      const anchor = renamed(preservedMessages?.anchorUuid)
      return {
        ...draft,
        uuid: renamed(uuid),
        compactMetadata: {
          ...metadata,
          preservedMessages: { ...(anchor === undefined ? {} : { anchorUuid: anchor }), uuids: kept },
          headMessages: headMessages.filter((head) => kept.includes(head)),
        },
      } as Draft
    })
}

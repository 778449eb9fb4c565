/** `strata memory why`: which memories a past conversation was offered, and what for. */
import type { ConversationListing } from "@strata/core/internal"
import { UsageError } from "../command.ts"
import { findById, titleFrom } from "../conversation-names.ts"
import { listing } from "../display/long-list.ts"
import { printable } from "../display/visible.ts"
import { type Offered, offeredIn, offeredLines } from "./offered.ts"
import type { Look } from "./page.ts"
import type { MemoryPlace } from "./place.ts"

export interface WhyFound extends Offered {
  readonly conversation: string
  readonly title?: string
}

interface Listed extends ConversationListing {
  readonly project: string
}

/** The newest conversation, unless the start of an id is given. */
export async function whyOffered({ store, projects }: MemoryPlace, id: string | undefined): Promise<WhyFound> {
  const all: Listed[] = []
  for (const project of projects) all.push(...(await store.list(project)).map((listing) => ({ ...listing, project })))
  const begun = all.filter(({ facts, firstWords }) => facts !== undefined || firstWords !== undefined)
  const newest = begun.toSorted((a, b) => (a.touched < b.touched ? 1 : -1))
  const found = id === undefined ? newest[0] : findById(id, newest)
  if (!found) throw new UsageError("This project has no conversation yet.")
  const journal = await store.open({ project: found.project, id: found.id }, { access: "read" })
  try {
    const title = found.facts?.title ?? (found.firstWords && titleFrom(found.firstWords))
    return { conversation: found.id, ...(title ? { title } : {}), ...(await offeredIn(journal.entries())) }
  } finally {
    await journal.close()
  }
}

export function whyPage(
  { conversation, title, ...offered }: WhyFound,
  { style, columns, isShort }: Look,
): readonly string[] {
  const heading = `Conversation ${conversation.slice(0, 8)}${title === undefined ? "" : `: ${title}`}`
  const lines = offeredLines(offered, Math.min(columns, 110))
  const { shown, rest } = listing(lines, { isShort, seeAll: "strata memory why | less" })
  return [style.bold(printable(heading)), ...shown, ...rest.map(style.dim)]
}

/** `/memory`: what this project remembers, and what was offered in this conversation. */

import type { Memory } from "@strata/core"
import { isCurrentMemory } from "@strata/core/memory"
import { shortSource, stemOf } from "@strata/page"
import { listing } from "../display/long-list.ts"
import { ageOf, counted } from "../display/numbers.ts"
import { table } from "../display/table.ts"
import { wrapped } from "../display/text.ts"
import { printable } from "../display/visible.ts"
import { type Offered, offeredLines } from "../memory/offered.ts"
import { inOrder } from "../memory/page.ts"
import { unconfirmedIn } from "../memory/review.ts"

const MOST_ROWS = 20 // the rest is for the command
const MOST_OFFERS = 40 // lines

export interface MemoryPicture {
  readonly memories: readonly Memory[]
  readonly location: string
  readonly offered: Offered
  readonly now: Date
}

export function memoryLines({ memories, location, offered, now }: MemoryPicture, columns: number): readonly string[] {
  const current = inOrder(memories.filter(isCurrentMemory))
  const shown = current.slice(0, MOST_ROWS)
  const rows = shown.map((memory) => [
    printable(stemOf(memory.file)),
    memory.type,
    ageOf(memory.confirmed, now),
    shortSource(memory),
  ])
  const more = current.length - shown.length
  const seeAll = "strata memory why"
  const offers = listing(offeredLines(offered, columns), { isShort: true, most: MOST_OFFERS, seeAll })
  return [
    ...wrapped(
      current.length === 0
        ? `This project has no memories yet. They are kept in ${printable(location)}`
        : `${counted(current.length, "memory", "memories")} in ${printable(location)}`,
      columns,
    ),
    ...table({
      width: columns,
      columns: [{ title: "", gives: "end" }, { title: "", isMinor: true }, { title: "" }, { title: "", isMinor: true }],
      rows,
    }),
    ...(more === 0 ? [] : [`  and ${more} more: strata memory`]),
    ...unconfirmedWords(unconfirmedIn(memories).length, columns),
    "",
    "In this conversation",
    ...offers.shown,
    ...offers.rest,
    "",
    ...wrapped("Start a line with # to remember it. strata memory shows, changes and undoes.", columns),
  ]
}

const unconfirmedWords = (count: number, columns: number): readonly string[] =>
  count === 0
    ? []
    : wrapped(
        `${counted(count, "memory is", "memories are")} not confirmed. /memory review: one key confirms or drops each.`,
        columns,
      )

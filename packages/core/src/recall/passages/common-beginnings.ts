/**
 * How the words begin that say nothing by themselves: "what", "did", "last", "2025". A question of such words only is compared with texts
 * as it is written. The beginnings that it has tell which texts can have it, so the others need not be read.
 */
import { COMMON } from "../../base/terms.ts"

const LONGEST = 3 // letters: longer words are known by as many
/** What a time is named with. */
const OF_TIMES =
  "ago,april,august,day,december,early,february,five,four,january,july,june,last,late,march,may,mid,month,november,october,one,past," +
  "september,since,six,three,today,two,week,year,yesterday"
const YEARS = Array.from({ length: 10 }, (_, decade) => [`19${decade}`, `20${decade}`]).flat()

const beginningOf = (word: string): string => word.slice(0, LONGEST).toLowerCase()

/** Only these are listed: those of all words would take a third of an index. */
const LISTED: ReadonlySet<string> = new Set([...[...COMMON, ...OF_TIMES.split(",")].map(beginningOf), ...YEARS])

const RUN = /[\p{L}\p{N}]+/gu

/** The listed beginnings of the words in a text. */
export function beginningsIn(text: string): ReadonlySet<string> {
  const beginnings = new Set<string>()
  for (const [run] of text.matchAll(RUN)) {
    const beginning = beginningOf(run)
    if (LISTED.has(beginning)) beginnings.add(beginning)
  }
  return beginnings
}

/**
 * The listed beginnings that every text has in which this one is. Its first word may be the end of a longer one there, and its last word may
 * be the beginning of one.
 */
export function beginningsAround(text: string): ReadonlySet<string> {
  const first = /^[\p{L}\p{N}]+/u.exec(text)?.[0].length ?? 0
  const last = /[\p{L}\p{N}]+$/u.exec(text)?.[0].length ?? 0
  return beginningsIn(text.slice(first, last < LONGEST ? text.length - last : text.length))
}

/**
 * How the words begin that say nothing by themselves: "what", "did", "last", "2025". A question of such words only is compared with texts
 * as it is written. The beginnings that it has tell which texts can have it, so the others need not be read. A word that names a time is in many
 * texts, so the word before it counts too: "and yesterday" is rare where "and" and "yesterday" are not.
 */
import { STOP_WORDS } from "../../base/search-terms.ts"

const MAX = 3 // letters: longer words are known by their first ones, or their last
/** What a time is named with. */
const TIME_WORDS =
  "ago,april,august,day,december,early,february,five,four,january,july,june,last,late,march,may,mid,month,november,october,one,past," +
  "september,since,six,three,today,two,week,year,yesterday"
const YEARS = Array.from({ length: 10 }, (_, decade) => [`19${decade}`, `20${decade}`]).flat()

const prefixOf = (word: string): string => word.slice(0, MAX).toLowerCase()
const suffixOf = (word: string): string => word.slice(-MAX).toLowerCase()

const TIMES: ReadonlySet<string> = new Set([...TIME_WORDS.split(",").map(prefixOf), ...YEARS])
/** Only these are listed: those of all words would take a third of an index. */
const LISTED: ReadonlySet<string> = new Set([...[...STOP_WORDS].map(prefixOf), ...TIMES])
const ENDINGS: ReadonlySet<string> = new Set([...STOP_WORDS, ...TIME_WORDS.split(",")].map(suffixOf))

const RUN = /[\p{L}\p{N}]+/gu

/** The listed beginnings of the words in a text. One of a time is there once more, after the ending of a common word before it. */
export function stopPrefixes(text: string): ReadonlySet<string> {
  return listPrefixes(text, { isPart: false })
}

/**
 * The same for a text that is inside of others: what all of them have. Its first word may be the end of a longer one there, and its last word
 * may be the beginning of one.
 */
export function innerStopPrefixes(text: string): ReadonlySet<string> {
  return listPrefixes(text, { isPart: true })
}

function listPrefixes(text: string, { isPart }: { readonly isPart: boolean }): ReadonlySet<string> {
  const beginnings = new Set<string>()
  let ending: string | undefined
  for (const { 0: run, index } of text.matchAll(RUN)) {
    const isShort = isPart && run.length < MAX
    const [isFirst, isLast] = [isPart && index === 0, isShort && index + run.length === text.length]
    const beginning = prefixOf(run)
    if (!isFirst && !isLast && LISTED.has(beginning)) {
      beginnings.add(beginning)
      if (ending !== undefined && TIMES.has(beginning)) beginnings.add(`${ending}_${beginning}`)
    }
    const own = suffixOf(run)
    ending = ENDINGS.has(own) && !(isFirst && isShort) ? own : undefined
  }
  return beginnings
}

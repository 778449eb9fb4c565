/**
 * Prefixes of insignificant words: "what", "did", "last", "2025". A question that has only such words is compared literally with texts.
 * The prefixes in the question tell which texts can contain it, so the others need not be read. A word that names a time is in many
 * texts, so it is combined with the word before it: "and yesterday" is rare although "and" and "yesterday" are not.
 */
import { STOP_WORDS } from "../../base/search-terms.ts"

const MAX = 3 // letters: longer words are represented by their first or last letters
/** Words that name times. */
const TIME_WORDS =
  "ago,april,august,day,december,early,february,five,four,january,july,june,last,late,march,may,mid,month,november,october,one,past," +
  "september,since,six,three,today,two,week,year,yesterday"
const YEARS = Array.from({ length: 10 }, (_, decade) => [`19${decade}`, `20${decade}`]).flat()

const prefixOf = (word: string): string => word.slice(0, MAX).toLowerCase()
const suffixOf = (word: string): string => word.slice(-MAX).toLowerCase()

const TIMES: ReadonlySet<string> = new Set([...TIME_WORDS.split(",").map(prefixOf), ...YEARS])
/** Only these prefixes are listed: those of all words would take a third of an index. */
const LISTED: ReadonlySet<string> = new Set([...[...STOP_WORDS].map(prefixOf), ...TIMES])
const ENDINGS: ReadonlySet<string> = new Set([...STOP_WORDS, ...TIME_WORDS.split(",")].map(suffixOf))

const RUN = /[\p{L}\p{N}]+/gu

/** The listed prefixes of the words in a text. The prefix of a time is listed once more with the ending of a common word before it. */
export function stopPrefixes(text: string): ReadonlySet<string> {
  return listPrefixes(text, { isPart: false })
}

/**
 * The prefixes that every text containing this one has. Its first word may be the end of a longer word there, and its last word the
 * start of one.
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

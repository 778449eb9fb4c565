/** The text of a sentence before it is read as a fact: without what only introduces it, with dates, times and negations in one form. */
import { ADDITION, BEGINNING, CORRECTION, NEGATION_RUNS, OPENINGS } from "./fact-words.ts"

const MONTH =
  "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
const DAY_MONTH = new RegExp(`\\b(\\d{1,2})(?:st|nd|rd|th)?\\.?(?: of)? (${MONTH})\\b\\.?(?:,? (\\d{4}))?`, "gi")
const MONTH_DAY = new RegExp(`\\b(${MONTH})\\.? (\\d{1,2})(?:st|nd|rd|th)?\\b(?![\\d:])(?:,? (\\d{4}))?`, "gi")
const CLOCK = /\b(\d{1,2})(?:[:.](\d{2}))?\s*(am|pm|a\.m\.?|p\.m\.?|uhr|o'clock)(?![\p{L}\p{N}])/giu
const OFTEN: Readonly<Record<string, string>> = {
  day: "daily",
  hour: "hourly",
  week: "weekly",
  month: "monthly",
  night: "nightly",
  year: "yearly",
  quarter: "quarterly",
}
const SINCE =
  /\b(?:since|as of|starting(?: from| on)?|effective|beginning|seit(?: dem)?|ab(?: dem)?)\s+(?:the\s+)?(?:\d{4}-\d{2}(?:-\d{2})?|date:\S+|today|yesterday|tomorrow|heute|gestern|morgen|(?:last|next|this)\s+\p{L}+|\d{4}|[A-Z]\p{Ll}+ \d{4}|\p{Lu}\p{Ll}+day)(?:\s+on\b)?,?/giu
const TIMELY =
  /\b(?:right now|by now|now|nowadays|from now on|these days|at the moment|at present|going forward|instead|any ?more|meanwhile|jetzt|inzwischen|ab sofort|ab jetzt|künftig|stattdessen|désormais|maintenant|ahora|agora|nu)\b[,]?/giu
const REJECTED =
  /(?:,\s*(?:and\s+)?not|\binstead of|\brather than|\bin place of|\b(?:an)?statt|\banstelle von|\bau lieu de|\ben lugar de|\bem vez de|\binvece di|\bin plaats van)\s+([^,.;]{1,60}?)(?=\s+(?:for|in|on|at|as|when|with|für|in|bei|pour|para|per|voor)\s|\s*[,.;!]|\s*$)/iu
const PREFERRED = /\b(?:over|to)\s+([^,.;]{1,60})[.!]?$/iu
const CHANGES = /\b(?:mov|switch|chang|migrat|relocat|transfer|renam|rais|lower|increas|decreas|bump|went)/iu
const CHANGED_FROM = /\bfrom\s+([^,.;]{1,40}?)\s+(?=to\b)/iu
const NO_LONGER = /\b(?:no longer|not any ?more|nicht mehr|ne plus|ya no|não mais|non più|niet meer)\b/giu
const GLUE = "␣"

interface FactText {
  readonly said: string
  /** What the sentence says is not so. */
  readonly rejected: readonly string[]
  readonly corrects: boolean
  readonly begins: boolean
  readonly adds: boolean
}

export function readText(sentence: string): FactText {
  const plain = sentence
    .normalize("NFKC")
    .replace(/\p{Cf}/gu, "")
    .replaceAll("’", "'")
    .replace(/`([^`]+)`/g, (_, code: string) => code.trim().replace(/\s+/g, GLUE)) // a command is one value
    .replace(/[`*"“”„«»()[\]]/g, "")
    .trim()
  const since = plain
    .replace(OPENINGS, "")
    .replace(NO_LONGER, "¬")
    .replace(/(?<=\d),(?=\d{3}(?!\d))/g, "") // 12,500
    .replace(DAY_MONTH, (_, day, month, year = "") => dateWord(month, day, year))
    .replace(MONTH_DAY, (_, month, day, year = "") => dateWord(month, day, year))
    .replace(CLOCK, (_, hour, minute = "00", half) => clockWord(Number(hour), minute, half))
    .replace(
      /\b(?:every|each) (day|hour|week|month|night|year|quarter)\b/gi,
      (_, unit: string) => OFTEN[unit.toLowerCase()]!,
    )
    .replace(/\btakes? place\b/gi, "happens")
    .replace(NEGATION_RUNS, " ¬ ")
    .replace(SINCE, "")
  const isPreference = /^(?:\S+ )?prefers?\b/iu.test(since)
  const rejection = REJECTED.exec(since) ?? (isPreference ? PREFERRED.exec(since) : null)
  const kept = rejection ? since.replace(rejection[0], "") : since
  const from = CHANGES.test(kept) ? CHANGED_FROM.exec(kept) : null
  const said = (from ? kept.replace(from[0], "") : kept)
    .replace(TIMELY, "")
    .replace(/^([^:]{2,60}):\s+(?=\S)/u, "$1 = ")
  return {
    ...{ said, corrects: CORRECTION.test(plain), adds: ADDITION.test(plain) },
    begins: BEGINNING.test(plain) || from !== null,
    rejected: [rejection?.[1], from?.[1]].filter((text) => text !== undefined),
  }
}

const dateWord = (month: string, day: string, year: string): string =>
  `date:${month.slice(0, 3).toLowerCase()}-${Number(day)}${year === "" ? "" : `-${year}`} `

function clockWord(hour: number, minute: string, half: string): string {
  const isLate = /^p/i.test(half)
  const hours = isLate ? (hour % 12) + 12 : /^a/i.test(half) ? hour % 12 : hour
  return `${String(hours).padStart(2, "0")}:${minute}`
}

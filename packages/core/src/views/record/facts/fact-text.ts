/** Normalises a sentence before it is read as a fact: removes introductions, and brings dates, times and negations into one form. */
import { NEGATION_RUNS, OPENINGS, VERBS } from "./fact-words.ts"

const MONTH =
  "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
const DAY_MONTH = new RegExp(`\\b(\\d{1,2})(?:st|nd|rd|th)?\\.?(?: of)? (${MONTH})\\b\\.?(?:,? (\\d{4}))?`, "gi")
const MONTH_DAY = new RegExp(`\\b(${MONTH})\\.? (\\d{1,2})(?:st|nd|rd|th)?\\b(?![\\d:])(?:,? (\\d{4}))?`, "gi")
const CLOCK = /\b(\d{1,2})(?:[:.](\d{2}))?\s*(am|pm|a\.m\.?|p\.m\.?|uhr|o'clock)(?![\p{L}\p{N}])/giu
const FREQUENCY: Readonly<Record<string, string>> = {
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
const PREFERRED = /\b(?:over|to)\s+([^,.;]{1,60})[.!]?$/iu
const NO_LONGER = /\b(?:no longer|not any ?more|nicht mehr|ne plus|ya no|não mais|non più|niet meer)\b/giu
const GLUE = "␣"

/** "deploying on Fridays is fine" permits it, like "you may deploy on Fridays". */
const ALLOWED =
  /^(?:(\p{L}+ing\b.*?) (?:is|are) (?:now |perfectly |again )*(?:fine|ok|okay|allowed|permitted|all right|alright|no problem)\b|(?:it|that) is (?:now )?(?:fine|ok|okay|allowed|permitted|all right|alright|no problem) (?:now )?to(?= ))/iu
/** "is running on Oslo" equals "runs on Oslo". */
const PROGRESSIVE = /\b(?:is|are|am)( now| currently)? (\p{L}{2,})ing\b/giu
const PROMOTED = /\b(?:got|was|were|am|is|are|been) promoted to\b/iu
/** "our new phone number is", "is the new owner": the previous value was different. */
const NEW_ONE =
  /^(my|our|his|her|their) new (?=\p{L}+(?: \p{L}+)? (?:is|are)\b)|(?<=\b(?:is|are) )(the|my|our|his|her|their) new /iu
/** Clauses with a subject of their own: "I got married, my surname is now Brandt". */
const CLAUSES = /[,;]\s+(?:(?:so|and|but)\s+)?(?=(?:my|our|we|i)\b)/iu

interface FactText {
  readonly text: string
  /** Words that the sentence rejects. */
  readonly rejected: readonly string[]
  /** The old value that the sentence names, and its subject. */
  readonly over?: { readonly was: string; readonly about: string }
  readonly corrects: boolean
  readonly begins: boolean
  readonly adds: boolean
  /** Whether it is about something that the speaker has: "my". */
  readonly isMine: boolean
}

export function readText(sentence: string): FactText {
  const plain = sentence
    .normalize("NFKC")
    .replace(/\p{Cf}/gu, "")
    .replaceAll("’", "'")
    .replace(CONTRACTED, (_, am, are) => (am ? " am" : are ? " are" : " is"))
    .replace(/`([^`]+)`/g, (_, code: string) => code.trim().replace(/\s+/g, GLUE)) // a command is one value
    .replace(/[`*"“”„«»()[\]]/g, "")
    .trim()
  const clause = withoutPerfect(changedClause(plain.replace(OPENINGS, "")))
  const change = findNamedChange(clause)
  const state = toStateForm(change ? stateAfter(change, clause) : clause)
  const opened = state.text
    .replace(PROMOTED, "is a")
    .replace(NEW_ONE, (_, whose = "", those = "") => `${whose}${those} `)
  const isNew = opened !== state.text
  const since = opened
    .replace(ALLOWED, (_, what = "") => what)
    .replace(PROGRESSIVE, (all, now = "", gerund: string) => {
      const base = [gerund, `${gerund}e`, gerund.replace(/(.)\1$/, "$1")].find((form) => VERBS.has(form))
      return base === undefined ? all : `${now} ${base}s`
    })
    .replace(NO_LONGER, "¬")
    .replace(/(?<=\d),(?=\d{3}(?!\d))/g, "") // 12,500
    .replace(DAY_MONTH, (_, day, month, year = "") => dateWord(month, day, year))
    .replace(MONTH_DAY, (_, month, day, year = "") => dateWord(month, day, year))
    .replace(CLOCK, (_, hour, minute = "00", half) => clockWord(Number(hour), minute, half))
    .replace(
      /(?:\b(?:every|each)|(?<=\d\S*(?: \p{L}+)?) (?:an?|per)) (day|hour|week|month|night|year|quarter)\b/giu,
      (_, unit: string) => ` ${FREQUENCY[unit.toLowerCase()]!}`,
    )
    .replace(/\ban? (?=(?:second|minute|hour|day|week|month|year)\b)/giu, "1 ")
    .replace(/\btakes? place\b/gi, "happens")
    .replace(NEGATION_RUNS, " ¬ ")
    .replace(SINCE, "")
  const isPreference = /^(?:\S+ )?prefers?\b/iu.test(since)
  const rejection = change ? null : (REJECTED.exec(since) ?? (isPreference ? PREFERRED.exec(since) : null))
  const accepted = (rejection ? since.replace(rejection[0], "") : since)
    .replace(TIMELY, "")
    .replace(/^([\p{L} -]{2,40}):\s+(?=\S*\d\S*$)/u, "the $1 is ") // "Release date: 2026-03-01" asks for no release
    .replace(/^([^:]{2,60}):\s+(?=\S)/u, "$1 = ")
  return {
    ...{ text: accepted, corrects: CORRECTION.test(plain), adds: ADDITION.test(plain) },
    begins: STARTED.test(plain) || change !== undefined || state.isMoved || isNew,
    isMine: /^my\b/iu.test(clause),
    ...(change ? { over: namedOldValue(change) } : {}),
    rejected: [rejection?.[1], state.was].filter((text) => text !== undefined),
  }
}

/** Of several clauses, the one that states a change. */
function changedClause(text: string): string {
  const clauses = text.split(CLAUSES)
  const [changed, ...others] = clauses.filter((clause) => STARTED.test(clause) || CORRECTION.test(clause))
  return clauses.length > 1 && changed !== undefined && others.length === 0 ? changed : text
}

const CONTRACTED = /(?<=\bi)'(m)\b|(?<=\b(?:we|you|they))'(re)\b|(?<=\b(?:it|that|he|she))'(s)\b/giu
const SPEAKER = /^(?:we|they|i|you|everyone|(?:the|our) team)\b/iu

/**
 * The state after a change: "Ana took over billing from Bo" becomes "Ana owns billing", and "we switched from Jest to Vitest" becomes
 * "we use Vitest".
 */
function stateAfter({ was, is, about, rest }: NamedChange, sentence: string): string {
  if (is === undefined || (about === undefined && rest === "")) return sentence
  if (about !== undefined) return `${is} owns ${about} ${rest}`
  if (/\bmoved\b/iu.test(sentence)) return sentence.replace(`from ${was} `, "")
  return SPEAKER.test(rest) ? rest.replace(SPEAKER, `we use ${is}`) : `${rest} = ${is}`
}

/** The old value with its subject, taken from the surrounding words. */
const namedOldValue = ({ was, about, rest }: NamedChange) => ({ was, about: about ?? rest.replace(SPEAKER, "") })

const dateWord = (month: string, day: string, year: string): string =>
  `date:${month.slice(0, 3).toLowerCase()}-${Number(day)}${year === "" ? "" : `-${year}`} `

function clockWord(hour: number, minute: string, half: string): string {
  const isLate = /^p/i.test(half)
  const hours = isLate ? (hour % 12) + 12 : /^a/i.test(half) ? hour % 12 : hour
  return `${String(hours).padStart(2, "0")}:${minute}`
}

// How a sentence states that something changed: change words, and forms that name the old value. Compactions and memories share this
// vocabulary: without one of these, only an attribute with one value at a time replaces anything.

/** Words stating that something earlier was wrong, or is no longer so. */
export const CORRECTION =
  /\b(?:actually|correction|corrected|in fact|i meant|i was wrong|scratch that|instead|no longer|not any ?more|any ?more|tatsächlich|korrektur|stattdessen|nicht mehr|en fait|en realidad|na verdade|in realtà|eigenlijk)\b|на самом деле|其实|實際上|実は|사실/iu
/** Words stating that something has started. */
export const STARTED =
  /^update\b|\b(?:now|nowadays|from now on|these days|since|as of|starting|effective|going forward|by now|meanwhile|jetzt|inzwischen|seit|ab sofort|ab jetzt|künftig|désormais|maintenant|ahora|a partir de ahora|agora|ora|d'ora in poi|nu|vanaf nu)\b|теперь|отныне|现在|從現在起|从现在起|今後|이제|앞으로/iu
/** Words stating that something is true in addition to earlier statements. */
export const ADDITION =
  /\b(?:also|too|as well|additionally|another|besides|in addition|a (?:second|third)|both|either|sometimes|occasionally|auch|zusätzlich|außerdem|manchmal|aussi|parfois|también|a veces|também|às vezes|anche|a volte|ook|soms)\b|也|또한/iu

/** Past-tense verbs: something that was moved, raised or renamed has another value now. */
const CHANGED =
  "moved|changed|switched|migrated|relocated|transferred|rescheduled|postponed|delayed|renamed|raised|lowered|increased|decreased|reduced|cut|bumped|extended|shortened|pushed|brought|upgraded|downgraded|updated|set|reset|slipped|rose|fell|grew|dropped|went|gone|rotated|revised"
const WAY = "(?: (?:up|down|back|forward|over|out))?"
/** A phrase of a few words. */
const phrase = (name: string) => `(?<${name}>[^\\s,;:!?]+(?: [^\\s,;:!?]+){0,5}?)`
const LAST =
  "(?=[.!?]*$|[,;:] |\\. | (?:for|in|on|at|as|when|with|since|because|after|before|now|yesterday|today|last|this|next|and|so)\\b|\\s+[–—-] )"
const OVER =
  "(?:instead of|rather than|in place of|and not|(?:an)?statt|anstelle von|au lieu de|en lugar de|em vez de|invece di|in plaats van)"

/** Forms that name the old value. `is`: the new value. `about`: the subject, if the form names it. */
const NAMING_FORMS: readonly RegExp[] = [
  `\\b(?:switched|moved|migrated|changed|went|gone|converted)${WAY} from ${phrase("was")} to ${phrase("is")}${LAST}`,
  `\\b(?:replaced?|replacing|swapped?|exchanged?)${WAY} ${phrase("was")} (?:with|by|for) ${phrase("is")}${LAST}`,
  `^${phrase("was")} (?:is|was|were|are|has been|got|gets)(?: now)? replaced (?:with|by) ${phrase("is")}${LAST}`,
  `^${phrase("is")} (?:replaces|replaced|supersedes|superseded|succeeds|succeeded) ${phrase("was")}${LAST}`,
  `\\b(?:dropped|ditched|abandoned|left|quit|retired|gave up) ${phrase("was")} (?:for|in fav(?:ou)?r of) ${phrase("is")}${LAST}`,
  `^${phrase("is")} (?:takes|took|taken) over (?:(?!from )${phrase("about")} )?from ${phrase("was")}${LAST}`,
  `^${phrase("was")} (?:hands|handed|passes|passed|gives|gave)(?: over)? ${phrase("about")}(?: over| on)? to ${phrase("is")}${LAST}`,
  `\\b(?:left|quit|resigned from) (?<was>(?-i:\\p{Lu})\\S*(?: (?-i:\\p{Lu})\\S*){0,2}?)${LAST}`,
].map((form) => new RegExp(form, "iu"))

export interface NamedChange {
  readonly was: string
  readonly is?: string
  readonly about?: string
  /** The sentence without the form. */
  readonly rest: string
}

/** `undefined` if no form names an old value. */
export function findNamedChange(sentence: string): NamedChange | undefined {
  for (const form of NAMING_FORMS) {
    const found = form.exec(sentence)
    if (!found) continue
    const { was, is, about } = found.groups as { was: string; is?: string; about?: string }
    return { was, ...(is ? { is } : {}), ...(about ? { about } : {}), rest: sentence.replace(found[0], " ").trim() }
  }
  return undefined
}

/** "Use spaces instead of tabs", "It is Leuven, not Ghent". */
export const REJECTED = new RegExp(
  `(?:,\\s*(?:and\\s+)?not|\\b${OVER})\\s+([^,.;]{1,60}?)(?=\\s+(?:for|in|on|at|as|when|with|für|in|bei|pour|para|per|voor)\\s|\\s*[,.;!]|\\s*$)`,
  "iu",
)

const MOVED = new RegExp(
  `^(?:(?:we|they|i|you|he|she|the \\S+|\\p{Lu}\\p{L}+) )?(?:had to )?(?:${CHANGED})${WAY} (?!from |to |in |at |by )${phrase("about")}${WAY}(?: from ${phrase("was")})? to (?<is>\\S.*)$`,
  "iu",
)

/** Rewrites a change as a state: "We moved the deadline to May 3" becomes "the deadline = May 3". Other sentences are unchanged. */
export function toStateForm(sentence: string): {
  readonly text: string
  readonly was?: string
  readonly isMoved: boolean
} {
  const moved = MOVED.exec(sentence)
  if (!moved) return { text: sentence, isMoved: false }
  const { about, was, is } = moved.groups as { about: string; was?: string; is: string }
  return { text: `${about} = ${is}`, ...(was ? { was } : {}), isMoved: true }
}

const PERFECT = new RegExp(
  `(?:\\b(?:has|have|had)|(?<=\\p{L})'(?:s|ve))(?: (?:just|now|recently|already))? (been )?(?=(?:${CHANGED}|replaced|taken|handed|left|quit|promoted|joined)\\b)`,
  "giu",
)

/** Replaces the perfect tense: "It has moved", "it has been moved" become "it moved", "it was moved". */
export const withoutPerfect = (sentence: string): string =>
  sentence.replace(PERFECT, (_, been?: string) => (been ? " was " : " ")).replace(/ {2,}/g, " ")

const OF_THE_USER =
  /^(?:i(?:'ve| have)? (?:just |recently |now )*(?:moved|relocated) to |i (?:now|recently|just) (?:live|work|use|prefer|study|speak) |i(?:'ve| have)? (?:just |recently |now )*(?:joined|left|quit|changed my|got promoted|got married|started (?:at|as|working))\b|my new )/iu

/** "I moved to Berlin": whether something about the user has changed. */
export const isChangeOfTheUser = (sentence: string): boolean =>
  OF_THE_USER.test(sentence.replaceAll("’", "'").trim()) && !/[?？؟]\W*$/u.test(sentence)

/**
 * Step 5, restore. The user's own messages after a boundary. All standing rules, and as many of the newest messages as the limit allows,
 * verbatim, each with its handle, so that what is left out can be recalled. And which language they are in.
 */
import { fenced } from "../../../messages/attachments.ts"
import { handleOf } from "../../../messages/handles.ts"
import type { Uuid } from "../../../messages/messages.ts"
import type { Word, Words } from "../../../views/record/words.ts"
import { cutText, type Estimate } from "../cut-text.ts"

interface WordsToRender {
  readonly words: Words
  /** Tokens of all messages together. */
  readonly limit: number
  readonly estimate: Estimate
  /** Messages that stay in the view. They are not repeated. */
  readonly kept: ReadonlySet<Uuid>
}

/** A sentence that was said several times appears once, where it was said last. */
export function renderRules({ messages }: Words): string {
  const handles = new Map<string, Uuid>()
  for (const { rules, uuid } of messages) {
    for (const rule of rules) {
      handles.delete(rule)
      handles.set(rule, uuid)
    }
  }
  const pasted = renderPasted(messages)
  if (handles.size === 0) return pasted === "" ? "" : ["## Standing rules", pasted].join("\n")
  const lines = [...handles].map(([rule, uuid]) => `[${handleOf(uuid)}] ${rule}`)
  return [
    "## Standing rules",
    "Sentences of the user, word for word, oldest first, each after the handle of its message. They apply until the user takes them back; where two contradict each other, the later one applies.",
    fenced(lines.join("\n")),
    ...(pasted === "" ? [] : [pasted]),
  ].join("\n")
}

const MOST_PASTED = 24 // messages named, the newest; more than that do not help to find something

/** Pasted text can be full of sentences that read like rules. They are not listed, but none is lost: each message has its handle. */
function renderPasted(messages: readonly Word[]): string {
  const pasted = messages.filter(({ otherRules = 0 }) => otherRules > 0)
  if (pasted.length === 0) return ""
  const sentences = pasted.reduce((sum, { otherRules = 0 }) => sum + otherRules, 0)
  const named = pasted.slice(-MOST_PASTED).map(({ uuid, otherRules }) => `${handleOf(uuid)} (${otherRules})`)
  const older = pasted.length > named.length ? `${pasted.length - named.length} older messages, ` : ""
  const verb =
    sentences === 1
      ? "sentence of pasted text reads like a rule and is"
      : "sentences of pasted text read like rules and are"
  return `[${sentences} ${verb} not listed here. Recall the handle: ${older}${named.join(", ")}]`
}

export function renderWords({ words: { messages }, limit, estimate, kept }: WordsToRender): string {
  if (messages.length === 0) return ""
  const own = messages.filter(({ uuid }) => !kept.has(uuid))
  const shown = newestThatFit(own, { limit, estimate })
  const elided = own.slice(0, own.length - shown.length)
  const standing = messages.filter(({ uuid }) => kept.has(uuid))
  return [
    "## What the user said",
    "The user's messages, word for word, oldest first, each under its handle.",
    ...(elided.length > 0 ? [`[${count(elided, "earlier message")} left out here: ${rangeOf(elided)}]`] : []),
    ...shown,
    ...(standing.length > 0
      ? [
          `[${count(standing, "message")} not repeated here, because the conversation still holds them: ${rangeOf(standing)}]`,
        ]
      : []),
  ].join("\n")
}

/** The newest one is always included, cut where it alone fills the limit. */
function newestThatFit(
  messages: readonly Word[],
  { limit, estimate }: Pick<WordsToRender, "limit" | "estimate">,
): readonly string[] {
  const shown: string[] = []
  let room = limit
  for (const message of messages.toReversed()) {
    const whole = renderWord(message)
    room -= estimate(`${whole}\n`)
    if (room < 0) {
      if (shown.length === 0) shown.push(renderBeginning(message, { limit, estimate }))
      break
    }
    shown.unshift(whole)
  }
  return shown
}

function renderWord({ uuid, text, isCut }: Word): string {
  const more = isCut ? ` (its first ${text.length} characters; its handle names all of it)` : ""
  return `Message ${handleOf(uuid)}${more}:\n${fenced(text)}`
}

function renderBeginning(message: Word, { limit, estimate }: Pick<WordsToRender, "limit" | "estimate">): string {
  const frame = estimate(renderWord({ ...message, text: "", isCut: true }))
  const text = cutText({ text: message.text, limit: Math.max(0, limit - frame), estimate })
  return renderWord({ ...message, text, isCut: true })
}

function rangeOf(messages: readonly Word[]): string {
  const [first, last] = [messages[0]!, messages.at(-1)!]
  return first === last ? handleOf(first.uuid) : `${handleOf(first.uuid)} to ${handleOf(last.uuid)}`
}

const count = ({ length }: readonly unknown[], what: string) => `${length} ${what}${length === 1 ? "" : "s"}`

const MESSAGES_LOOKED_AT = 50 // the newest: people who change their language do not change back after one message
const CHARACTERS_LOOKED_AT = 1_000 // of a message: what follows is mostly pasted

interface Script {
  readonly letters: RegExp
  /** How much a letter counts compared to Latin ones: texts of every script contain program names and English terms. */
  readonly weight: number
  languageOf(text: string): string | undefined
}

const one = (language: string) => () => language

const SCRIPTS: readonly Script[] = [
  { letters: /\p{Script=Latin}/gu, weight: 1, languageOf: byWords },
  {
    letters: /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu,
    weight: 4, // a character is half a word
    languageOf: (text) => (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text) ? "Japanese" : "Chinese"),
  },
  { letters: /\p{Script=Hangul}/gu, weight: 3, languageOf: one("Korean") },
  { letters: /\p{Script=Cyrillic}/gu, weight: 2, languageOf: cyrillic },
  { letters: /\p{Script=Arabic}/gu, weight: 2, languageOf: arabic },
  { letters: /\p{Script=Hebrew}/gu, weight: 2, languageOf: one("Hebrew") },
  { letters: /\p{Script=Greek}/gu, weight: 2, languageOf: one("Greek") },
  { letters: /\p{Script=Devanagari}/gu, weight: 2, languageOf: one("Hindi") },
  { letters: /\p{Script=Thai}/gu, weight: 2, languageOf: one("Thai") },
]

const FREQUENT: Readonly<Record<string, ReadonlySet<string>>> = Object.fromEntries(
  Object.entries({
    English: "the and is are to of it that you this with for not what please can how does should from why my all",
    German:
      "der die das und ist nicht ein eine ich du mit auf für auch bitte wie was den zu im immer nie noch aber sind",
    French: "le la les et est pas un une je tu vous pour dans que qui des avec sur ce il ne toujours jamais du au",
    Spanish: "el la los las y es un una que por para con en lo se como más siempre nunca favor esto está del al",
    Portuguese: "o a os as e é não um uma que por para com em do da se como mais sempre você está isso ao",
    Italian: "il lo la gli e è non un una che per con di in del della sono come più sempre mai questo anche",
    Dutch: "de het een en is niet ik je met op voor ook dat van wat altijd nooit maar zijn deze",
    Polish: "i w nie na jest się to z że do jak co czy proszę zawsze nigdy dla od jako",
    Turkish: "ve bir bu için değil ne mi da ile çok her zaman asla lütfen gibi var yok",
    Swedish: "och är inte en ett jag du med på för det som att alltid aldrig av till",
  }).map(([language, words]) => [language, new Set(words.split(" "))]),
)

/**
 * Which language a person writes, judged by the script and by a few words that every text in the language has. Each message has one vote.
 * Code does not count, and a message without a clear language does not vote. Deterministic, and silent rather than wrong. `texts` oldest
 * first. On a tie the language used last wins. `undefined`: it is not clear.
 */
export function languageOf(texts: readonly string[]): string | undefined {
  const votes = new Map<string, number>()
  for (const text of texts.slice(-MESSAGES_LOOKED_AT).toReversed()) {
    const language = languageOfOne(text)
    if (language !== undefined) votes.set(language, (votes.get(language) ?? 0) + 1)
  }
  return best(votes, "the first counts")
}

function languageOfOne(text: string): string | undefined {
  const prose = withoutCode(text.slice(0, CHARACTERS_LOOKED_AT))
  const sizes = SCRIPTS.map((script) => [script, (prose.match(script.letters)?.length ?? 0) * script.weight] as const)
  return best(new Map(sizes), "the first counts")?.languageOf(prose)
}

/** Code, paths, addresses and names with symbols are the same in every language. */
function withoutCode(text: string): string {
  return text.replace(/`{3}[\s\S]*?(?:`{3}|$)|`[^`\n]*`/g, " ").replace(/[!-~]*(?:[/\\_=<>@#]|\.\w)[!-~]*/g, " ")
}

function byWords(text: string): string | undefined {
  const found = text.toLowerCase().match(/[\p{L}\p{M}]+/gu) ?? []
  const hits = Object.entries(FREQUENT).map(
    ([language, words]) => [language, found.filter((word) => words.has(word)).length] as const,
  )
  return best(new Map(hits), "none counts")
}

function cyrillic(text: string): string | undefined {
  if (/[іїєґ]/i.test(text)) return "Ukrainian"
  const isRussian = /[ыэё]|(?<!\p{L})(?:и|в|не|что|это|как|всегда|никогда|пожалуйста|файл\p{L}*)(?!\p{L})/iu.test(text)
  return isRussian ? "Russian" : undefined
}

function arabic(text: string): string {
  if (/[ٹڈڑے]/.test(text)) return "Urdu"
  return /[پچژگ]/.test(text) ? "Persian" : "Arabic"
}

/** The key with the highest count; `undefined` where all are zero. */
function best<Key>(counts: ReadonlyMap<Key, number>, onTie: "the first counts" | "none counts"): Key | undefined {
  const most = Math.max(0, ...counts.values())
  const leaders = [...counts].filter(([, count]) => count === most)
  return most === 0 || (leaders.length > 1 && onTie === "none counts") ? undefined : leaders[0]![0]
}

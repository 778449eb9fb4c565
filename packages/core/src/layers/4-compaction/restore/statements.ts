/**
 * Step 5, restore. Sentences of the conversation after a boundary: decisions with their reasons, open tasks, findings and values, verbatim,
 * newest first. If there is little room, the most informative come first. A replaced sentence is not repeated; the later one mentions the
 * old value.
 */
import { memoize } from "../../../base/work.ts"
import { inline } from "../../../messages/blocks.ts"
import { exactNamesIn } from "../../../messages/exact-names.ts"
import { handleOf } from "../../../messages/media.ts"
import type { Uuid } from "../../../messages/messages.ts"
import type { Statement, Statements } from "../../../views/record/statements.ts"
import { standingRules } from "../../../views/record/user-messages.ts"
import type { Estimate } from "../cut.ts"

interface StatementsToRender {
  readonly statements: Statements
  /** Maximum tokens of all sentences. */
  readonly limit: number
  readonly estimate: Estimate
  /** Uuids of messages that are completely in view. Their sentences are not repeated. */
  readonly inView: ReadonlySet<Uuid>
  /** The summary and the facts before this section. Their sentences are not repeated. */
  readonly shown: string
}

/** Only the first section has sentences of the user, so that text quoted by the assistant cannot be mistaken for the user's. */
const SECTIONS: readonly (readonly [title: string, isIn: (statement: Statement) => boolean])[] = [
  ["## Also said by the user", ({ by }) => by === "user"],
  ["## Decisions", ({ by, kind }) => by === "assistant" && kind === "decision"],
  ["## Open", ({ by, kind }) => by === "assistant" && kind === "open"],
  ["## Findings", ({ by, kind }) => by === "assistant" && kind !== "decision" && kind !== "open"],
]
const RECENCY = 2 // how much more the newest counts than the oldest
const LEFT_OUT = "[999 more such sentences left out: 5e8d1f3b7a to 4c9a2e6d0f]" // at its longest
const AROUND = [...SECTIONS.map(([title]) => title), LEFT_OUT].join("\n\n")

export function renderStatements({ statements, limit, estimate, inView, shown }: StatementsToRender): string {
  const all = [...statements.current].filter(([text, { uuid }]) => !inView.has(uuid) && !shown.includes(text))
  const ranked = all
    .map(([text, statement], at) => ({ text, statement, at, score: statement.weight + (RECENCY * at) / all.length }))
    .sort((a, b) => b.score - a.score || b.at - a.at)
  let room = limit - estimate(AROUND)
  const taken: { readonly at: number; readonly statement: Statement; readonly line: string }[] = []
  for (const { text, statement, at } of ranked) {
    const line = lineOf(text, statement)
    const tokens = estimate(line) + 1
    if (tokens > room) continue
    room -= tokens
    taken.push({ at, statement, line })
  }
  const isTaken = new Set(taken.map(({ at }) => at))
  const left = all.filter((_, at) => !isTaken.has(at)).map(([, { uuid }]) => handleOf(uuid))
  const newestFirst = taken.sort((a, b) => b.at - a.at)
  const sections = SECTIONS.flatMap(([title, isIn]) => {
    const lines = newestFirst.filter(({ statement }) => isIn(statement)).map(({ line }) => line)
    return lines.length === 0 ? [] : [[title, ...lines].join("\n")]
  })
  if (left.length > 0) sections.push(leftOutLine(left, taken.length))
  return sections.join("\n\n")
}

const lineOf = (text: string, { uuid, was }: Statement): string =>
  `- ${inline(text)}${was === undefined || text.includes(was) ? "" : ` (was ${inline(was)})`} [${handleOf(uuid)}]`

function leftOutLine(handles: readonly string[], listed: number): string {
  const [first, last] = [handles[0]!, handles.at(-1)!]
  const what = handles.length === 1 ? "sentence" : "sentences"
  const which = listed > 0 ? `more such ${what}` : `${what} with decisions, open tasks and findings`
  return `[${handles.length} ${which} left out: ${first === last ? first : `${first} to ${last}`}]`
}

// Step 5, restore. Scores sentences of the user if not all of them fit: exact content, wishes and prohibitions are worth more than small
// talk.

const LABEL = /^(?:[A-Z][A-Z ]{2,30}|(?:rule|note|fact|goal|task|decision|constraint|preference|important|remember)):/i
/** Matches what someone wants, allows or forbids, and what comes next. */
const WANTS =
  /\b(?:(?:I|we) (?:want|need|like|prefer|expect|would|decided|chose)|please|only|must|should|may|not|no|never|without|unless|next|ask|stop|task|goal|deadline|instead)\b|\b(?:bitte|nur|nicht|kein\w*)\b/i
const NAMED = /(?<=[\p{Ll},;] )\p{Lu}\p{Ll}+/u // a name amid a sentence

interface Worth {
  readonly value: number
}

/** Score from 0 for small talk to about 8. */
export const worthOf = (text: string): number => worth(text).value

const worth = memoize(
  (text): Worth => ({
    value:
      (standingRules(text).length > 0 ? 3 : 0) +
      Math.min(3, exactNamesIn(text).filter(({ name, kind }) => kind !== "quoted" && /[\d/]/.test(name)).length * 2) +
      (LABEL.test(text) ? 2 : 0) +
      (WANTS.test(text) ? 1 : 0) +
      (NAMED.test(text) ? 1 : 0),
  }),
)

// Step 5, restore. Detects the language in which the user writes.

const MESSAGES_LOOKED_AT = 50 // the newest: people who change their language do not change back after one message
const CHARACTERS_LOOKED_AT = 1_000 // of a message: what follows is mostly pasted

interface Script {
  readonly letters: RegExp
  /** Weight of a letter compared to Latin letters: texts of every script contain program names and English terms. */
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
 * Detects the language in which the user writes, by the script and by a few words that occur in every text of the language. Each message
 * has one vote. Code is ignored, and a message without a clear language does not vote. Deterministic; returns `undefined` rather than a
 * guess. `texts` are oldest first. On a tie the language used last wins.
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

/** Removes code, paths, addresses and names with symbols, which are the same in every language. */
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

/** The key with the highest count; `undefined` if all are zero. */
function best<Key>(counts: ReadonlyMap<Key, number>, onTie: "the first counts" | "none counts"): Key | undefined {
  const max = Math.max(0, ...counts.values())
  const leaders = [...counts].filter(([, count]) => count === max)
  return max === 0 || (leaders.length > 1 && onTie === "none counts") ? undefined : leaders[0]![0]
}

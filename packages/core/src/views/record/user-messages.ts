/**
 * The user messages view: every message of the user and every answer to a question, verbatim, with the standing rules in it. The view
 * is called `words` in checkpoints.
 */
import { dropSecrets } from "../../base/secrets/find-secrets.ts"
import { memoize } from "../../base/work.ts"
import { type Entry, isDecision, isMessage } from "../../journal/entries.ts"
import { inline, quoted } from "../../messages/blocks.ts"
import { type ExactName, exactNamesIn } from "../../messages/exact-names.ts"
import { isFromUser, type UserTextInResult, type Uuid, userText } from "../../messages/messages.ts"
import type { Projection } from "../projection.ts"
import { followCalls, type OpenCall } from "./open-work.ts"

// Separates what a user typed from what they pasted. A short message counts as typed. In a long one quoted code, quotes and tagged
// blocks are pasted, and so is the body of a document: only the lines before and after it can be the user's. The parts are verbatim.

const MAX_TYPED = 2_000 // characters; about ten minutes of typing
const BEFORE_DOCUMENT = 600 // characters at the start of a document that may be typed
const AFTER_DOCUMENT = 400

const MAX_END_CHARACTERS = 10_000 // characters to read at each end of a longer text

const FENCE = /^\s*(```+|~~~+)/
const QUOTE = /^\s*>/
const OPENING_TAG = /^\s*<([A-Za-z][\w.:-]*)(?:\s[^>]*)?>/
/** Lines that occur in documents rather than in typed text: headings, rules, tables. */
const DOCUMENT_LINE = /^\s{0,3}(?:#{1,6}\s|\|.*\||(?:-{3,}|={3,}|\*{3,})\s*$)/
const LISTED = /^\s*(?:[-*+]|\d+[.)])\s/

export function typedParts(text: string): readonly string[] {
  if (text.length <= MAX_TYPED) return text.split("\n")
  const lines = withoutQuoted(linesOf(text))
  const length = lines.reduce((sum, line) => sum + line.length + 1, 0)
  return length <= MAX_TYPED ? lines : aroundDocument(lines)
}

/** The lines that may be the user's own words, without quotes and code, however short the text is. An unclosed quote extends to the end. */
export function typedLines(text: string): readonly string[] {
  const lines = withoutQuoted(linesOf(text))
  const open = lines.findIndex((line) => FENCE.test(line))
  return typedParts((open < 0 ? lines : lines.slice(0, open)).join("\n"))
}

function linesOf(text: string): readonly string[] {
  if (text.length <= 2 * MAX_END_CHARACTERS) return text.split("\n")
  const [first, last] = [text.slice(0, MAX_END_CHARACTERS).split("\n"), text.slice(-MAX_END_CHARACTERS).split("\n")]
  return [...first.slice(0, -1), "", ...last.slice(1)]
}

function withoutQuoted(lines: readonly string[]): readonly string[] {
  const kept: string[] = []
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!
    const end = endOfBlock(lines, at)
    if (end !== undefined) at = end
    else if (!QUOTE.test(line)) kept.push(line)
  }
  return kept
}

/** The last line of the quoted block that starts here. An unclosed block quotes nothing. */
function endOfBlock(lines: readonly string[], at: number): number | undefined {
  const fence = FENCE.exec(lines[at]!)?.[1]
  if (fence !== undefined) {
    const end = lines.findIndex((line, index) => index > at && line.trim().startsWith(fence))
    return end < 0 ? undefined : end
  }
  const tag = OPENING_TAG.exec(lines[at]!)?.[1]
  if (tag === undefined) return undefined
  const end = lines.findIndex((line, index) => index >= at && line.includes(`</${tag}>`))
  return end < 0 ? undefined : end
}

function aroundDocument(lines: readonly string[]): readonly string[] {
  const before = takeLines(BEFORE_DOCUMENT, lines)
  const rest = lines.slice(before.length)
  const paragraph = rest.slice(rest.findLastIndex((line) => line.trim() === "") + 1)
  const isTyped = (piece: readonly string[]) =>
    takeLines(AFTER_DOCUMENT, piece).length === piece.length && !piece.some((line) => LISTED.test(line))
  const after = [paragraph, rest.slice(-1)].find(isTyped) ?? []
  return [...before, ...after]
}

/** The first lines, up to the limit or the first line of a document. */
function takeLines(characters: number, lines: readonly string[]): readonly string[] {
  let room = characters
  const end = lines.findIndex((line) => {
    room -= line.length + 1
    return room < 0 || DOCUMENT_LINE.test(line)
  })
  return end < 0 ? lines : lines.slice(0, end)
}

// Finds standing rules in a user's text: sentences that ask for something always, never or from now on, recognised by marker words in
// several languages. Typed text can contain rules; such sentences in pasted text are only counted.

/** Words that mark a sentence as a rule. In Latin script they must be whole words; in other scripts they may be anywhere. */
const MARKERS_LATIN = [
  ...[
    "always",
    "never",
    "from now on",
    "don't",
    "do not",
    "must",
    "must not",
    "make sure",
    "only use",
    "prefer",
    "avoid",
    "remember",
  ],
  ...[
    "every time",
    "whenever",
    "under no circumstances",
    "no matter what",
    "going forward",
    "in future",
    "in the future",
    "please use",
  ],
  ...[
    "immer",
    "nie",
    "niemals",
    "ab jetzt",
    "ab sofort",
    "nicht mehr",
    "auf keinen fall",
    "stets",
    "bitte verwende",
    "achte darauf",
  ],
  ...["toujours", "jamais", "désormais", "à partir de maintenant", "n'utilise pas", "ne pas", "il faut"],
  ...["siempre", "nunca", "jamás", "a partir de ahora", "de ahora en adelante", "no uses", "debes"],
  ...["sempre", "nunca", "jamais", "de agora em diante", "não use", "d'ora in poi", "mai"],
  ...["altijd", "nooit", "vanaf nu"],
]
const MARKERS_OTHER = [
  ...["всегда", "никогда", "отныне", "с этого момента", "нельзя", "обязательно"],
  ...["总是", "始终", "永远", "绝不", "从不", "不要", "必须", "务必", "以后", "从现在起", "禁止"],
  ...["總是", "始終", "永遠", "絕不", "從現在起", "必須", "務必"],
  ...["常に", "必ず", "いつも", "決して", "しないで", "今後", "禁止"],
  ...["항상", "절대", "반드시", "앞으로", "하지 마"],
  ...["دائما", "دائمًا", "أبدا", "أبدًا", "لا تستخدم", "من الآن"],
  ...["हमेशा", "कभी नहीं", "अब से"],
]

const MAX_RULE = 600 // characters; longer "sentences" are pasted text

const latin = new RegExp(`(?<![\\p{L}\\p{N}])(?:${MARKERS_LATIN.join("|")})(?![\\p{L}\\p{N}])`, "iu")
const other = new RegExp(MARKERS_OTHER.join("|"), "iu")

export function standingRules(text: string): readonly string[] {
  return typedParts(text).flatMap(findRules)
}

/** Number of sentences in pasted text that read like rules and are not among `standingRules`. */
export function otherRules(text: string): number {
  return Math.max(0, findRules(text).length - standingRules(text).length)
}

const findRules = (text: string): readonly string[] =>
  sentences(text).filter((sentence) => sentence.length <= MAX_RULE && isRule(sentence))

/** A question, which is not a rule. */
const QUESTION = /[?？؟][\s"'”’)\]*]*$/

function isRule(sentence: string): boolean {
  if (QUESTION.test(sentence)) return false
  const typed = sentence.replaceAll("’", "'") // phones and word processors write don’t
  return latin.test(typed) || other.test(typed)
}

/**
 * The sentences of a text, verbatim, with white space trimmed at the ends. A full stop inside `v1.2` does not end a sentence; those of
 * Chinese, Japanese, Hindi, Arabic and Urdu always do.
 */
function sentences(text: string): string[] {
  return (text.match(/[^\n.!?。！？।؟۔]+(?:[.!?]+(?!\s|$)[^\n.!?。！？।؟۔]+)*[.!?。！？।؟۔]*/gu) ?? [])
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== "")
}

export interface UserMessages {
  readonly messages: UserMessageText[]
  readonly open: Map<string, OpenCall>
}

export interface UserMessageText {
  readonly uuid: Uuid
  readonly timestamp: string
  readonly text: string
  /**
   * Set if the text is not a message of its own: at the refusal of a call, or as the answer to a question. `saidAt` is its name in
   * checkpoints.
   */
  readonly saidAt?: UserTextInResult["at"]
  /** Another program's transcript attributes it to the user. */
  readonly isImported?: true
  /** Whether only its start is here. The journal has the full text under the uuid. */
  readonly isCut?: true
  /** Sentences with instructions that apply from now on, verbatim. */
  readonly rules: readonly string[]
  /** Number of sentences in pasted text that read like rules and are not among them. The journal has them under the uuid. */
  readonly otherRules?: number
}

/**
 * Whether the user typed it. An answer can be one of the options that the agent offered, and a tool can produce a text that looks like
 * a refusal. A message that is too long was pasted. A transcript is a file that anyone may have written.
 */
export const isTyped = ({ saidAt, isCut, isImported }: UserMessageText): boolean =>
  saidAt === undefined && !isCut && !isImported

const MAX_HELD = 10_000 // characters; longer messages are pasted logs and files, and a view must stay small
const LONE_SURROGATE = /[\uD800-\uDBFF]$/

/**
 * Strata's tool for questions to the user. No MCP tool can have this name. `frame` is the text before the answer, which is not the
 * user's.
 */
const QUESTION_TOOL = { tool: "AskUser", frame: /^The person answers: / }

export const userMessages: Projection<UserMessages> = {
  name: "words",
  scope: "path",
  start: () => ({ messages: [], open: new Map() }),
  apply(state, entry) {
    // follows imported messages; older versions did not mark each message
    if (isDecision(entry) && entry.subtype === "imported")
      return { ...state, messages: state.messages.map((word) => ({ ...word, isImported: true })) }
    for (const userText of findUserTexts(state, entry)) note(state, entry, userText)
    return state
  },
}

type UserText = Pick<UserMessageText, "text" | "saidAt" | "isImported">

function findUserTexts({ open }: UserMessages, entry: Entry): readonly UserText[] {
  const answers = followCalls(open, entry)
    .filter(({ tool, failed, output }) => tool === QUESTION_TOOL.tool && !failed && QUESTION_TOOL.frame.test(output))
    .map(({ output }): UserText => ({ text: output.replace(QUESTION_TOOL.frame, ""), saidAt: "answer" }))
  if (!isMessage(entry) || entry.type !== "user" || entry.isSidechain) return answers
  const inResults = (entry.saidInResults ?? []).map(({ text, at }): UserText => ({ text, saidAt: at }))
  const texts = [...answers, ...inResults, ...(isFromUser(entry) ? [{ text: entry.written ?? userText(entry) }] : [])]
  return entry.isImported ? texts.map((each) => ({ ...each, isImported: true })) : texts
}

function note(state: UserMessages, { uuid, timestamp }: Entry, { text, saidAt, isImported }: UserText): void {
  if (text.trim() === "") return
  const others = otherRules(text)
  const isLong = text.length > MAX_HELD
  const held = isLong ? text.slice(0, MAX_HELD).replace(LONE_SURROGATE, "") : text
  state.messages.push({
    uuid,
    timestamp,
    text: held,
    ...(saidAt ? { saidAt } : {}),
    ...(isImported ? { isImported } : {}),
    ...(isLong ? { isCut: true } : {}),
    rules: standingRules(text),
    ...(others > 0 ? { otherRules: others } : {}),
  })
}

// The sentences of a text, verbatim. A full stop inside `v1.2` or after `Dr.` does not end a sentence; those of Chinese, Japanese,
// Hindi and Arabic always do.

export const ENDS =
  /(?<=[.!…]["'”’)\]*_]*)(?<!\b(?:Dr|Mr|Mrs|Ms|Prof|St|vs|etc|e\.g|i\.e)\.)\s+(?=[^\p{Ll}])|(?<=[?]["'”’)\]*_]*)\s+|(?<=[。！？।؟۔])\s*|\n+/u

/**
 * Splits a text into sentences. Text after a colon at the end of a line belongs to it, as in `Never do this:` and a list: only the
 * whole is a sentence.
 */
export function splitSentences(text: string): readonly string[] {
  const sentences = text.split(ENDS)
  const at = sentences.findIndex((sentence) => /:["'”’*_`]*\s*$/u.test(sentence))
  return at < 0 ? sentences : [...sentences.slice(0, at), sentences.slice(at).join("\n")]
}

/** The parts of a text between sentence ends, without joining introductions. */
export const sentenceParts = (text: string): readonly string[] => text.split(ENDS)

// Highlights of a tool result in one line: lines that report an error, and the most distinctive names. They come from a tool's output,
// so every part is quoted or free of anything that could end the line. Secrets are left out.

const ERRORS_SHARE = 1 / 2 // share of the tokens; names get the other half
const MAX_ERROR = 160 // characters of one line
const MAX_SEARCHED = 50_000 // characters at either end of a result: the middle of a huge one is not searched
const MAX_NAMES = 400 // names that are ranked

/** Errors as programs report them: the word near the start of the line, the name of an exception, or a phrase of the system. */
const ERROR_LINE =
  /^(?:\S{1,80}\s+){0,3}\W{0,3}(?:error|fatal|panic|fail(?:ed|ure)?|traceback|✗|✖)(?:[\s:[(]|$)|\b\w*(?:Error|Exception): |\b(?:command not found|permission denied|no such file|connection refused|exit code [1-9])\b/i
/** Source code, which mentions errors without reporting one. */
const CODE = /[{};,]\s*$|\b(?:throw|catch|import|return|const|def|func(?:tion)?)\b/

/** Kinds that are rare in ordinary output are the most distinctive. Identifiers and paths fill every listing. */
const KIND_RANK: Readonly<Record<ExactName["kind"], number>> = {
  error: 0,
  ticket: 0,
  address: 0,
  hash: 1,
  version: 1,
  number: 1,
  quoted: 2,
  flag: 2,
  path: 3,
  identifier: 3,
}

const LAST = 4
/** Whether a name is a small number: line numbers, times and counts are in any output. */
const isSmall = (name: string): boolean => /^\d{1,3}(?:\.\d+)?(?:%|[a-z]{1,2})?$/i.test(name)

export interface HighlightInput {
  readonly text: string
  /** Maximum of tokens. */
  readonly room: number
  readonly estimate: (text: string) => number
  /** Whether a name was used after the result: those are the most distinctive. */
  readonly isUsedLater?: (name: string) => boolean
}

/** A text without secrets, with the exact names in it. Several views read the same texts. */
export const readWithoutSecrets = memoize((text) => {
  const searched = dropSecrets(text)
  return { searched, names: exactNamesIn(searched, MAX_NAMES) }
})

/** Empty if nothing fits or nothing is distinctive. */
export function extractHighlights({ text, room, estimate, isUsedLater = () => false }: HighlightInput): string {
  const { searched, names } = readWithoutSecrets(
    text.length > 2 * MAX_SEARCHED ? `${text.slice(0, MAX_SEARCHED)}\n${text.slice(-MAX_SEARCHED)}` : text,
  )
  const pieces: string[] = []
  let left = room
  const take = (piece: string, max: number): boolean => {
    const tokens = estimate(`${piece}, `)
    if (tokens > max) return false
    pieces.push(piece)
    left -= tokens
    return true
  }
  for (const line of errorLines(searched)) if (!take(quoted(shortened(line)), left - room * ERRORS_SHARE)) break
  const shown = pieces.join(" ")
  for (const name of rankNames(names, isUsedLater)) {
    if (shown.includes(name)) continue
    if (left < 2) break
    take(inline(name), left)
  }
  return pieces.join(", ")
}

/** Error lines, last ones first: a failed run usually ends with the cause. */
function errorLines(text: string): readonly string[] {
  const lines = text.split("\n").map((line) => line.trim())
  const found = lines.filter(
    (line) => line !== "" && line.length < 4 * MAX_ERROR && ERROR_LINE.test(line) && !CODE.test(line),
  )
  return [...new Set(found.toReversed())]
}

const shortened = (line: string) => (line.length > MAX_ERROR ? `${line.slice(0, MAX_ERROR)}…` : line)

function rankNames(names: readonly ExactName[], isUsedLater: (name: string) => boolean): readonly string[] {
  const rank = ({ name, kind }: ExactName) => (isUsedLater(name) ? -1 : isSmall(name) ? LAST : KIND_RANK[kind])
  return names.toSorted((a, b) => rank(a) - rank(b)).map(({ name }) => name)
}

/**
 * Step 4, check. How the audit compares texts: as sequences of lower-case words, so that line breaks, markdown, punctuation and capitals
 * make no difference. A Chinese, Japanese or Korean character is a word of its own.
 */

import { type CooperativeTask, lazy } from "../../../base/work.ts"
import { exactNamesIn, type NameKind } from "../../../messages/exact-names.ts"

const TOKEN =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]|\p{N}+(?:\.\p{N}+)+|(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}])[\p{L}\p{N}\p{M}])+/gu
/** An escaped line end or tab inside a string. */
export const ESCAPE = /\\[nrt](?![a-z]{0,2}\\)/g
const THOUSANDS = /(?<=\d),(?=\d{3}(?!\d))/g // 8,443 and 8443 are the same number
const VERSION_MARK = /(?<![\p{L}\p{N}])v(?=\d+\.\d)/giu

/** The same pattern for ASCII text: most tool output is ASCII, and Unicode classes are slow. */
const ASCII_TOKEN = /\d+(?:\.\d+)+|[a-z\d]+/g
const NOT_ASCII = /[^\0-\x7f]/

export function tokensOf(text: string): string[] {
  const plain = text.replace(ESCAPE, " ").replace(THOUSANDS, "").replace(VERSION_MARK, "").toLowerCase()
  return plain.match(NOT_ASCII.test(plain) ? TOKEN : ASCII_TOKEN) ?? []
}

/** Joins words with single blanks and adds one at both ends, so that a search matches complete words only. */
export const joinTokens = (tokens: readonly string[]): string => (tokens.length === 0 ? "" : ` ${tokens.join(" ")} `)

export const toPhrase = (text: string): string => joinTokens(tokensOf(text))

/** Position of each word in the text; -1 if it is spelled differently. */
export function positionsIn(text: string, tokens: readonly string[]): readonly number[] {
  const lower = text.toLowerCase()
  let from = 0
  return tokens.map((token) => {
    const at = lower.indexOf(token, from)
    if (at >= 0) from = at + token.length
    return at
  })
}

const SENTENCE = /[^.!?。！？।؟۔\n]+(?:[.!?]+(?![\s"'”’)\]*]|$)[^.!?。！？।؟۔\n]*)*[.!?。！？।؟۔]*["'”’)\]*]*/gu

export interface TextSpan {
  readonly text: string
  readonly at: number
}

/** The sentences of a text, verbatim. A period inside a name or a version does not end a sentence. */
export const sentencesIn = (text: string): readonly TextSpan[] =>
  [...text.matchAll(SENTENCE)].flatMap(({ 0: found, index }) => {
    const start = found.length - found.trimStart().length
    const trimmed = found.trim()
    return trimmed === "" ? [] : [{ text: trimmed, at: index + start }]
  })

const STOP_WORDS = new Set(
  (
    "a an the and or but if then else of to in on at by for from with without into onto over under about as is are was were be been being am do does did done have has had " +
    "having will would shall should can could may might must it its this that these those there here he she they them her their you your we our us i me my not no nor so " +
    "than too very just also only any all each every some such same other more most both either neither own again once when where why how what which who whom user users user's " +
    "message messages said says asked wants wanted please let lets s t re ll d ve m via per using use used new now up out off " +
    "der die das den dem des ein eine einen einem einer und oder aber wenn dann mit auf für von zu im ist sind war nicht kein keine bitte ich du er sie es wir ihr nutzer benutzer"
  ).split(" "),
)
const ENDING = /(?:ations?|ings?|ions?|edly|ed|ers?|es|ly|e|s)$/

/** Whether a word is too common to carry meaning. */
export const isStopWord = (token: string): boolean => STOP_WORDS.has(token)

/** Stems of the words that carry meaning: deleting, deleted and deletion are one. */
export function contentWords(text: string): Set<string> {
  const words = new Set<string>()
  for (const token of tokensOf(text)) if (!STOP_WORDS.has(token)) words.add(stem(token))
  return words
}

export function stem(token: string): string {
  const short = token.replace(ENDING, "")
  const base = short.length >= 3 ? short : token
  return base.replace(/([b-df-hj-np-tv-z])\1$/, "$1") // dropping and drop
}

/** Share of `wanted` that is in `words`; 0 if `wanted` is empty. */
export function shareOf(terms: ReadonlySet<string>, words: ReadonlySet<string>): number {
  if (terms.size === 0) return 0
  let found = 0
  for (const word of terms) if (words.has(word)) found++
  return found / terms.size
}

const NEGATION_LATIN =
  /(?<![\p{L}\p{N}])(?:not|no|never|none|cannot|without|nor|neither|avoid(?:s|ed|ing)?|refus\w*|forb[ia]d\w*|prohibit\w*|refrain\w*|disallow\w*|ban(?:s|ned)?|stop(?:s|ped)?|skip\w*|exclud\w*|untouched|unchanged|off[- ]limits|[a-z]{1,10}n['’]t|dont|doesnt|wont|nicht|nie|niemals|kein\w*|ohne|verboten|pas|jamais|sans|nunca|jamás|sin|não|sem|non|mai|senza|niet|nooit|geen|zonder)(?![\p{L}\p{N}])/iu
const NEGATION_OTHER =
  /不|没|無|无|勿|别|別|禁|ない|ません|않|마세요|하지 마|안 |не |нет|никогда|нельзя|без |لا |ليس|नहीं|मत /u

export const isNegated = (text: string): boolean => NEGATION_LATIN.test(text) || NEGATION_OTHER.test(text)

/** Stems that fit any conversation, so they prove nothing. */
const genericWords = lazy(() =>
  contentWords(
    "summary conversation session primary request intent key technical concepts files code sections errors fixes problem solving all user messages pending tasks current work optional next step completed context continuing help part go went going start end finish done proceed progress far state title specification functions workflow corrections codebase system documentation learnings results worklog the 的 是 了 在 和 有 不 我 你 他 她 这 那 一 个 们 就 也 都 要 会 到 说 为 上 下 中 に は を の が で と した です ます",
  ),
)
const NUMBER = /^\d+$/

/** Stems of words that only some conversations contain. */
export function distinctiveWords(text: string): readonly string[] {
  const common = genericWords()
  return [...contentWords(text)].filter((word) => !common.has(word) && !NUMBER.test(word))
}

export type NameClass = "paths" | "identifiers" | "hashes" | "versions"

export interface SummaryName {
  readonly class: NameClass
  readonly text: string
  readonly at: number
}

// Each pattern tries a run of characters once: none may begin inside a run, and no part repeats what another part could match.
const URL = /\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s`"'<>)\]]+/giu
const PATH =
  /(?<![\w./@~$*{}<>+-])(?:~|\.{1,2}|[A-Za-z]:)?(?:[\\/]?[\w.@+-]+)?(?:[\\/][\w.@+-]+)+\/?(?![\w*{}<>$/\\-])/gu
const FILE = /(?<![\w./@~$*{}<>+-])[\w@+-][\w.@+-]*\.[A-Za-z][A-Za-z0-9]{0,9}(?![\w*{}<>$/(-])/gu
const UUID = /(?<![\w-])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![\w-])/giu
const HASH = /(?<![\w-])(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}(?![\w-])/gu
const VERSION = /(?<![\w.-])v?\d+\.\d+(?:\.\d+)*(?:-[a-z]+[.\d]*)?(?![\w-])(?!\.\d)/giu
const IDENTIFIER =
  /(?<![\w./@$<-])(?:[A-Za-z]+(?:_[A-Za-z0-9]+)+|_{1,2}[A-Za-z][a-z0-9]*[_A-Z]\w*|[a-z]+[0-9]*[A-Z][A-Za-z0-9]*|[A-Z]+[a-z0-9]+[A-Z][A-Za-z0-9]*|[A-Z]{2,}-\d+)(?![\w])/gu
/** A call without arguments counts as a name, even if it is an ordinary word. */
const CALL = /(?<![\w./@$<-])[A-Za-z_]\w{2,}(?=\(\))/gu

/** Kinds of exact names that need no pattern above, because only their occurrence is checked. */
const OTHER_KINDS: ReadonlySet<NameKind> = new Set(["flag", "error", "ticket", "address"])

const FILE_ENDING = /\.(?:[a-z]{1,5}|[a-z]{1,3}\d|\d[a-z]{1,2})$/i
const ABBREVIATION = /^(?:e\.g|i\.e|etc|vs|a\.k\.a|node\.js|vue\.js|next\.js|d\.h)\.?$/i

/** Removes punctuation at the end of a sentence. */
const trim = (found: string): string => found.replace(/[.,;:'")\]]+$/, "")

/** Finds the exact names in a text with their positions: paths, identifiers, hashes and versions. */
export function namesIn(given: string): readonly SummaryName[] {
  const text = given.replace(ESCAPE, "  ") // of the same length, so that places stay
  const names: SummaryName[] = []
  const taken = new Uint8Array(text.length) // 1 where a character belongs to a name
  const take = (name: NameClass, found: string, at: number) => {
    const trimmed = trim(found)
    if (trimmed === "" || taken.subarray(at, at + trimmed.length).includes(1)) return
    taken.fill(1, at, at + trimmed.length)
    names.push({ class: name, text: trimmed, at })
  }
  for (const { 0: found, index } of text.matchAll(URL)) take("paths", found, index)
  for (const { 0: found, index } of text.matchAll(PATH))
    if (!found.includes("...") && isPath(trim(found), text, index)) take("paths", found, index)
  for (const { 0: found, index } of text.matchAll(FILE)) if (isFile(trim(found))) take("paths", found, index)
  for (const { 0: found, index } of text.matchAll(UUID)) take("hashes", found, index)
  for (const { 0: found, index } of text.matchAll(HASH)) take("hashes", found, index)
  for (const { 0: found, index } of text.matchAll(VERSION)) if (isVersion(found)) take("versions", found, index)
  for (const { 0: found, index } of text.matchAll(IDENTIFIER)) take("identifiers", found, index)
  for (const { 0: found, index } of text.matchAll(CALL)) take("identifiers", found, index)
  for (const { name, kind } of exactNamesIn(text)) {
    if (!OTHER_KINDS.has(kind)) continue
    for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + name.length)) take("identifiers", name, at)
  }
  return names.sort((a, b) => a.at - b.at)
}

/**
 * Whether this is a path: `read/write` is a choice between words. A path has an extension, a root, more than one slash, or backticks around
 * it.
 */
function isPath(found: string, text: string, at: number): boolean {
  if (/^[\d/.:-]+$/.test(found)) return false
  const last = found.split(/[\\/]/).filter(Boolean).at(-1) ?? ""
  if (FILE_ENDING.test(last) && !/^\d/.test(last)) return true
  if (/^(?:~|\.{1,2})?[\\/]/.test(found)) return found.split(/[\\/]/).filter(Boolean).length > 1
  return text[at - 1] === "`" && text[at + found.length] === "`" && /[\\/]/.test(found)
}

const isFile = (found: string): boolean => FILE_ENDING.test(found) && !ABBREVIATION.test(found) && !/\.\d+$/.test(found)
const isVersion = (found: string): boolean => /^v/i.test(found) || (found.match(/\./g)?.length ?? 0) > 1

// Step 4, check. What a summary claims, claim by claim, and the parts of a summary that claims are found in.

/** Kinds of claims that are checked. */
export const CLAIM_CLASSES = [
  "quotes",
  "approvals",
  "prohibitions",
  "outcomes",
  "wording",
  "paths",
  "identifiers",
  "hashes",
  "versions",
  "numbers",
  "people",
] as const
export type ClaimClass = (typeof CLAIM_CLASSES)[number]

export interface SummaryClaim extends TextSpan {
  readonly class: ClaimClass
  readonly isSupported: boolean
  /** Set if the conversation contradicts the claim. Otherwise an unsupported claim was only not found. */
  readonly isRefuted?: true
  /** The sentence that contains the claim. */
  readonly sentence: TextSpan
  /** The conversation's version, if it is known. */
  readonly instead?: string
}

export interface SummaryPart extends TextSpan {
  readonly tokens: readonly string[]
  /** Exact names with their positions in the part. */
  readonly names: readonly SummaryName[]
  /** The line of the part, without its bullet or number. */
  readonly line: TextSpan
  readonly isCode: boolean
  /** Whether the part is inside a block of quoted text. */
  readonly isQuoted: boolean
  /** Whether the part is in a list of the user's messages. */
  readonly isUsersList: boolean
}

const FENCE = /^\s*(`{3,}|~{3,})\s*([\w+-]*)/
const PROSE_FENCES = new Set(["", "text", "txt", "md", "markdown"]) // quoted text is read like any other
const USERS_LIST = /^\s*(?:#+ |\d+[.)] )?\**(?:all )?(?:user.?s? messages|what the user said|user requests)\b/i
const TITLE = /^(?:#{1,6} |\d+[.)] \**[A-Z]|\*\*[^*]+\*\*:?\s*$)/
const MARKER = /^\s*(?:[-*+•]|\d+[.)]|#+|\[[ x]\]|>)\s+/

/** The sentences of a summary with their positions. Code is split by line. */
export function* partSteps(summary: string): CooperativeTask<readonly SummaryPart[]> {
  const parts: SummaryPart[] = []
  const add = (part: Omit<SummaryPart, "tokens" | "names">) =>
    parts.push({ ...part, tokens: tokensOf(part.text), names: namesIn(part.text) })
  let fence: { readonly mark: string; readonly isCode: boolean } | undefined
  let isUsersList = false
  let start = 0
  for (const line of summary.split("\n")) {
    yield
    const at = start
    start += line.length + 1
    const [, mark, language = ""] = FENCE.exec(line) ?? []
    if (mark !== undefined && (fence === undefined || mark.startsWith(fence.mark))) {
      fence = fence === undefined ? { mark, isCode: !PROSE_FENCES.has(language.toLowerCase()) } : undefined
      continue
    }
    if (line.trim() === "") continue
    if (fence?.isCode) {
      add({ text: line, at, line: { text: line, at }, isCode: true, isQuoted: false, isUsersList })
      continue
    }
    if (fence === undefined) {
      if (USERS_LIST.test(line)) isUsersList = true
      else if (TITLE.test(line)) isUsersList = false
    }
    const marker = MARKER.exec(line)?.[0].length ?? 0
    const content = { text: line.slice(marker), at: at + marker }
    const position = { line: content, isCode: false, isQuoted: fence !== undefined, isUsersList }
    for (const sentence of sentencesIn(content.text))
      add({ ...position, text: sentence.text, at: content.at + sentence.at })
  }
  return parts
}

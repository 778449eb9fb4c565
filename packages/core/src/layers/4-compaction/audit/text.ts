/**
 * How the audit compares texts: as sequences of lower-case words, so that line breaks, markdown, punctuation and capitals make no difference.
 * A Chinese, Japanese or Korean character is a word of its own.
 */

const TOKEN =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]|\p{N}+(?:\.\p{N}+)+|(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}])[\p{L}\p{N}\p{M}])+/gu
/** A line end or a tab as it is written inside a string. */
export const ESCAPE = /\\[nrt](?![a-z]{0,2}\\)/g
const THOUSANDS = /(?<=\d),(?=\d{3}(?!\d))/g // 8,443 and 8443 are the same number
const VERSION_MARK = /(?<![\p{L}\p{N}])v(?=\d+\.\d)/giu

/** The same for a text without other letters. Most tool output is one, and classes of Unicode letters are slow. */
const ASCII_TOKEN = /\d+(?:\.\d+)+|[a-z\d]+/g
const NOT_ASCII = /[^\0-\x7f]/

export function tokensOf(text: string): string[] {
  const plain = text.replace(ESCAPE, " ").replace(THOUSANDS, "").replace(VERSION_MARK, "").toLowerCase()
  return plain.match(NOT_ASCII.test(plain) ? TOKEN : ASCII_TOKEN) ?? []
}

/** The words with one blank around each, so that a search finds whole words only. */
export const phrase = (tokens: readonly string[]): string => (tokens.length === 0 ? "" : ` ${tokens.join(" ")} `)

export const phraseOf = (text: string): string => phrase(tokensOf(text))

/** Where each of its words is in a text; -1 where it is written in another way. */
export function placesIn(text: string, tokens: readonly string[]): readonly number[] {
  const lower = text.toLowerCase()
  let from = 0
  return tokens.map((token) => {
    const at = lower.indexOf(token, from)
    if (at >= 0) from = at + token.length
    return at
  })
}

const SENTENCE = /[^.!?。！？।؟۔\n]+(?:[.!?]+(?![\s"'”’)\]*]|$)[^.!?。！？।؟۔\n]*)*[.!?。！？।؟۔]*["'”’)\]*]*/gu

export interface Span {
  readonly text: string
  readonly at: number
}

/** The sentences of a text, verbatim. A full stop inside a name or a version does not end one. */
export const sentencesIn = (text: string): readonly Span[] =>
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

/** A word that any text has. */
export const isStopWord = (token: string): boolean => STOP_WORDS.has(token)

/** Words that carry meaning, without their endings: deleting, deleted and deletion are one. */
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

/** Which share of `wanted` is in `words`; 0 where nothing is wanted. */
export function shareIn(wanted: ReadonlySet<string>, words: ReadonlySet<string>): number {
  if (wanted.size === 0) return 0
  let found = 0
  for (const word of wanted) if (words.has(word)) found++
  return found / wanted.size
}

const NEGATION_LATIN =
  /(?<![\p{L}\p{N}])(?:not|no|never|none|cannot|without|nor|neither|avoid(?:s|ed|ing)?|refus\w*|forb[ia]d\w*|prohibit\w*|refrain\w*|disallow\w*|ban(?:s|ned)?|stop(?:s|ped)?|skip\w*|exclud\w*|untouched|unchanged|off[- ]limits|[a-z]{1,10}n['’]t|dont|doesnt|wont|nicht|nie|niemals|kein\w*|ohne|verboten|pas|jamais|sans|nunca|jamás|sin|não|sem|non|mai|senza|niet|nooit|geen|zonder)(?![\p{L}\p{N}])/iu
const NEGATION_OTHER =
  /不|没|無|无|勿|别|別|禁|ない|ません|않|마세요|하지 마|안 |не |нет|никогда|нельзя|без |لا |ليس|नहीं|मत /u

export const isNegated = (text: string): boolean => NEGATION_LATIN.test(text) || NEGATION_OTHER.test(text)

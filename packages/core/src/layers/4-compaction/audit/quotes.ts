/**
 * Quotes of the user. What a summary lists among the user's messages, or attributes to the user in quotation marks, must be something the
 * user said. Omissions are allowed; other words are not.
 */
import type { Claim, Part } from "./claim.ts"
import type { Source } from "./source.ts"
import { isNegated, phrase, tokensOf } from "./text.ts"

const IN_MARKS = /"([^"\n]+)"|“([^“”\n]+)”|„([^„“”\n]+)[“”]|«([^«»\n]+)»|「([^「」\n]+)」|『([^『』\n]+)』/gu
const NAMES_USER =
  /\b(?:user|customer|human|nutzer(?:in)?|benutzer(?:in)?|utilisateur|usuario|utente)(?:'s|s)?\b|用户|ユーザー|사용자|пользовател/iu
const SAID =
  /\b(?:user|they|human|nutzer(?:in)?|benutzer(?:in)?)\s*(?:'s|explicitly|also|then|now|just|has|had|hat)?\s*(?:said|says|wrote|writes|asked|asks|requested|stated|instructed|insisted|replied|answered|told|demanded|ordered|typed|sagte|schrieb|fragte|bat)\b|用户(?:说|要求|表示|写道)/iu
const LEFT_OUT = /\[[^\]]*\]|\.{3,}|…/
const FEWEST_TOKENS = 3 // shorter ones are names in quotation marks
const NEAR_SHARE = 0.9 // of a quote's words, in this order: a corrected typo is no invention

/** Looked for line by line: a quote may have several sentences. */
export function quoteClaims(parts: readonly Part[], source: Source): readonly Claim[] {
  const lines = parts.filter((part, at) => !part.isCode && part.line !== parts[at - 1]?.line)
  return lines.flatMap(({ line, isUsersList }) =>
    [...line.text.matchAll(IN_MARKS)].flatMap(({ 0: marked, index }): Claim[] => {
      const quote = marked.slice(1, -1)
      if (tokensOf(quote).length < FEWEST_TOKENS) return []
      const before = line.text.slice(0, index)
      const isDirect = isUsersList || SAID.test(before)
      if (!isDirect && !NAMES_USER.test(before)) return []
      const isSupported =
        wasSaid(quote, source) || (!isDirect && piecesOf(quote).every((tokens) => source.index.has(tokens)))
      const at = line.at + index
      const around = parts.find(
        (part) => part.line === line && part.at <= at && at + marked.length <= part.at + part.text.length,
      )
      return [{ class: "quotes", text: marked, at, isSupported, sentence: around ?? line }]
    }),
  )
}

const piecesOf = (quote: string) =>
  quote
    .split(LEFT_OUT)
    .map(tokensOf)
    .filter((tokens) => tokens.length > 0)

function wasSaid(quote: string, source: Source): boolean {
  if (piecesOf(quote).every((tokens) => source.said.includes(phrase(tokens)))) return true
  return source.turns.some(({ text }) => piecesOf(quote).every((tokens) => isNearly(tokens, text)))
}

/** Nearly all words in the same order, and none that turns the meaning round. */
function isNearly(tokens: readonly string[], text: string): boolean {
  const said = tokensOf(text)
  let at = 0
  let found = 0
  const missing: string[] = []
  for (const token of tokens) {
    const place = said.indexOf(token, at)
    if (place < 0) missing.push(token)
    else {
      found++
      at = place + 1
    }
  }
  return (
    found / tokens.length >= NEAR_SHARE &&
    !missing.some((token) => /\d/.test(token)) &&
    isNegated(tokens.join(" ")) === isNegated(text)
  )
}

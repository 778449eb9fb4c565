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
  const onLine = Map.groupBy(parts, (part) => part.line)
  const turns = source.turns.map(({ text }) => ({ tokens: tokensOf(text), isNegated: isNegated(text) }))
  return lines.flatMap(({ line, isUsersList }) => {
    const said = endOf(SAID, line.text)
    const named = endOf(NAMES_USER, line.text)
    const own = onLine.get(line)!
    let nth = 0 // sentences and quotes come in the same order
    return [...line.text.matchAll(IN_MARKS)].flatMap(({ 0: marked, index }): Claim[] => {
      const quote = marked.slice(1, -1)
      if (tokensOf(quote).length < FEWEST_TOKENS) return []
      const isDirect = isUsersList || said <= index
      if (!isDirect && named > index) return []
      const isSupported =
        wasSaid(quote, source, turns) || (!isDirect && piecesOf(quote).every((tokens) => source.index.has(tokens)))
      const at = line.at + index
      while (nth + 1 < own.length && own[nth]!.at + own[nth]!.text.length <= at) nth++
      const isInside = own[nth]!.at <= at && at + marked.length <= own[nth]!.at + own[nth]!.text.length
      return [{ class: "quotes", text: marked, at, isSupported, sentence: isInside ? own[nth]! : line }]
    })
  })
}

/** Where the first match ends. */
function endOf(pattern: RegExp, text: string): number {
  const found = pattern.exec(text)
  return found ? found.index + found[0].length : Number.POSITIVE_INFINITY
}

interface SaidTurn {
  readonly tokens: readonly string[]
  readonly isNegated: boolean
}

const piecesOf = (quote: string) =>
  quote
    .split(LEFT_OUT)
    .map(tokensOf)
    .filter((tokens) => tokens.length > 0)

function wasSaid(quote: string, source: Source, turns: readonly SaidTurn[]): boolean {
  const pieces = piecesOf(quote)
  if (pieces.every((tokens) => source.said.includes(phrase(tokens)))) return true
  return turns.some((turn) => pieces.every((tokens) => isNearly(tokens, turn)))
}

/** Nearly all words in the same order, and none that turns the meaning round. */
function isNearly(tokens: readonly string[], { tokens: said, isNegated: isTurnNegated }: SaidTurn): boolean {
  const mostMissing = tokens.length * (1 - NEAR_SHARE)
  let at = 0
  const missing: string[] = []
  for (const token of tokens) {
    const place = said.indexOf(token, at)
    if (place >= 0) at = place + 1
    else if (missing.push(token) > mostMissing) return false
  }
  return !missing.some((token) => /\d/.test(token)) && isNegated(tokens.join(" ")) === isTurnNegated
}

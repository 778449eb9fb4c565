/**
 * Step 4, check. People in a summary: handles, owners and authors, and full names. Each must occur in the source. Two
 * words with capitals are mostly a heading or a term, so they are a name only if neither occurs there and neither fits any conversation.
 */
import type { Claim, Part } from "./claim.ts"
import type { Source } from "./source.ts"
import { ownWords, tokensOf } from "./text.ts"

const HANDLE = /(?<![\w.@/`-])@[A-Za-z][\w-]{2,}(?![\w/:(@]|\.\w)/g
const NAME = String.raw`\p{Lu}[\p{Ll}'’]+(?:[ -](?:\p{Lu}\.|\p{Lu}[\p{Ll}'’]+))*`
const FULL_NAME = /(?<![\p{L}\p{N}_`./-])\p{Lu}\p{Ll}+(?: \p{Lu}\p{Ll}+)+(?![\p{L}\p{N}_`/:*-])/gu
const ROLE = new RegExp(
  String.raw`\b(?:owners?|owned by|maintainers?|maintained by|assignees?|assigned to|authors?|authored by|written by|reviewers?|reviewed by|reported by|requested by|contact|responsible)\b[*_]*(?: (?:is|was|are))?[:=]?[*_]* [*_]*(?<name>${NAME})`,
  "giu",
)

export function peopleClaims(part: Part, { index }: Source): readonly Claim[] {
  if (part.isCode) return []
  const claims = new Map<number, Claim>()
  const add = (text: string, at: number, isSupported: boolean) => {
    if (!claims.has(at)) claims.set(at, { class: "people", text, at: part.at + at, isSupported, sentence: part })
  }
  const has = (text: string) => index.has(tokensOf(text))
  for (const { 0: handle, index: at } of part.text.matchAll(HANDLE)) add(handle, at, has(handle))
  for (const { 0: found, index: at, groups } of part.text.matchAll(ROLE)) {
    const name = groups!.name!
    if (/^\p{Lu}/u.test(name)) add(name, at + found.length - name.length, has(name))
  }
  for (const { 0: name, index: at } of part.text.matchAll(FULL_NAME))
    if (isOwn(name) && tokensOf(name).every((token) => !index.has([token]))) add(name, at, false)
  return [...claims.values()]
}

const isOwn = (name: string): boolean => ownWords(name).length === tokensOf(name).length

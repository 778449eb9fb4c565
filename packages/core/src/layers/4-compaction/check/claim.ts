/** Step 4, check. What a summary claims, claim by claim, and the parts of a summary that claims are found in. */
import type { Steps } from "../../../base/work.ts"
import { type Name, namesIn, type Span, sentencesIn, tokensOf } from "./text.ts"

/** What kind of statement is checked. */
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

export interface Claim extends Span {
  readonly class: ClaimClass
  readonly isSupported: boolean
  /** The conversation says otherwise. Without this, what is not supported is only not found. */
  readonly isRefuted?: true
  /** The sentence it is in. */
  readonly sentence: Span
  /** What the conversation says instead, where that is known. */
  readonly instead?: string
}

export interface Part extends Span {
  readonly tokens: readonly string[]
  /** Exact names, with their place in the part. */
  readonly names: readonly Name[]
  /** The line it is on, without its bullet or number. */
  readonly line: Span
  readonly isCode: boolean
  /** In a block of quoted text. */
  readonly isQuoted: boolean
  /** In a list of the user's messages. */
  readonly isUsersList: boolean
}

const FENCE = /^\s*(`{3,}|~{3,})\s*([\w+-]*)/
const PROSE_FENCES = new Set(["", "text", "txt", "md", "markdown"]) // quoted text is read like any other
const USERS_LIST = /^\s*(?:#+ |\d+[.)] )?\**(?:all )?(?:user.?s? messages|what the user said|user requests)\b/i
const TITLE = /^(?:#{1,6} |\d+[.)] \**[A-Z]|\*\*[^*]+\*\*:?\s*$)/
const MARKER = /^\s*(?:[-*+•]|\d+[.)]|#+|\[[ x]\]|>)\s+/

/** The sentences of a summary, each with its place. Code stays line by line. */
export function* partSteps(summary: string): Steps<readonly Part[]> {
  const parts: Part[] = []
  const add = (part: Omit<Part, "tokens" | "names">) =>
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
    const place = { line: content, isCode: false, isQuoted: fence !== undefined, isUsersList }
    for (const sentence of sentencesIn(content.text))
      add({ ...place, text: sentence.text, at: content.at + sentence.at })
  }
  return parts
}

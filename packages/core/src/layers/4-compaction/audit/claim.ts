/** What a summary claims, claim by claim, and the parts of a summary that claims are found in. */
import { type Span, sentencesIn } from "./text.ts"

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
] as const
export type ClaimClass = (typeof CLAIM_CLASSES)[number]

export interface Claim extends Span {
  readonly class: ClaimClass
  readonly isSupported: boolean
  /** The sentence it is in. */
  readonly sentence: Span
  /** What the conversation says instead, where that is known. */
  readonly instead?: string
}

export interface Part extends Span {
  /** The line it is on, without its bullet or number. */
  readonly line: Span
  readonly isCode: boolean
  /** In a list of the user's messages. */
  readonly isUsersList: boolean
}

const FENCE = /^\s*(`{3,}|~{3,})/
const USERS_LIST = /^\s*(?:#+ |\d+[.)] )?\**(?:all )?(?:user.?s? messages|what the user said|user requests)\b/i
const TITLE = /^(?:#{1,6} |\d+[.)] \**[A-Z]|\*\*[^*]+\*\*:?\s*$)/
const MARKER = /^\s*(?:[-*+•]|\d+[.)]|#+|\[[ x]\]|>)\s+/

/** The sentences of a summary, each with its place. Code stays line by line. */
export function partsOf(summary: string): readonly Part[] {
  const parts: Part[] = []
  let fence: string | undefined
  let isUsersList = false
  let start = 0
  for (const line of summary.split("\n")) {
    const at = start
    start += line.length + 1
    const mark = FENCE.exec(line)?.[1]
    if (mark !== undefined && (fence === undefined || mark.startsWith(fence))) {
      fence = fence === undefined ? mark : undefined
      continue
    }
    if (line.trim() === "") continue
    if (fence !== undefined) {
      parts.push({ text: line, at, line: { text: line, at }, isCode: true, isUsersList })
      continue
    }
    if (USERS_LIST.test(line)) isUsersList = true
    else if (TITLE.test(line)) isUsersList = false
    const marker = MARKER.exec(line)?.[0].length ?? 0
    const content = { text: line.slice(marker), at: at + marker }
    for (const sentence of sentencesIn(content.text))
      parts.push({ text: sentence.text, at: content.at + sentence.at, line: content, isCode: false, isUsersList })
  }
  return parts
}

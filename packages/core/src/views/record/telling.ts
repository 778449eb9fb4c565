/**
 * What is exact in a tool result, in one line: the lines that report an error, and the names that tell most about it. It comes from a tool's
 * output, so every piece is quoted or free of anything that could end the line. Secrets are left out.
 */
import { remembering } from "../../base/remembering.ts"
import { dropSecrets } from "../../base/secrets/find-secrets.ts"
import { type ExactName, exactNamesIn } from "../../messages/exact-names.ts"
import { inline, quoted } from "../../messages/inline.ts"

const ERRORS_SHARE = 1 / 2 // of the room: names get the other half
const LONGEST_ERROR = 160 // characters of one line
const LOOKED_AT = 50_000 // characters at either end of a result: the middle of a huge one is not searched
const MOST_NAMES = 400 // that are weighed

/** As programs report failures: the word near the beginning of the line, the name of an exception, or a phrase of the system's. */
const ERROR_LINE =
  /^(?:\S{1,80}\s+){0,3}\W{0,3}(?:error|fatal|panic|fail(?:ed|ure)?|traceback|✗|✖)(?:[\s:[(]|$)|\b\w*(?:Error|Exception): |\b(?:command not found|permission denied|no such file|connection refused|exit code [1-9])\b/i
/** Source code speaks of errors without reporting one. */
const CODE = /[{};,]\s*$|\b(?:throw|catch|import|return|const|def|func(?:tion)?)\b/

/** Kinds that are rare in ordinary output say most. Identifiers and paths fill every listing. */
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
/** Line numbers, times and counts are in any output. */
const isSmall = (name: string): boolean => /^\d{1,3}(?:\.\d+)?(?:%|[a-z]{1,2})?$/i.test(name)

export interface TellingInput {
  readonly text: string
  /** Tokens. */
  readonly room: number
  readonly estimate: (text: string) => number
  /** Whether someone used a name after the result: those tell most. */
  readonly isUsedLater?: (name: string) => boolean
}

const lookedAt = remembering((text) => {
  const searched = dropSecrets(text)
  return { searched, names: exactNamesIn(searched, MOST_NAMES) }
})

/** Empty where nothing fits or nothing is worth it. */
export function tellingIn({ text, room, estimate, isUsedLater = () => false }: TellingInput): string {
  const { searched, names } = lookedAt(
    text.length > 2 * LOOKED_AT ? `${text.slice(0, LOOKED_AT)}\n${text.slice(-LOOKED_AT)}` : text,
  )
  const pieces: string[] = []
  let left = room
  const take = (piece: string, most: number): boolean => {
    const tokens = estimate(`${piece}, `)
    if (tokens > most) return false
    pieces.push(piece)
    left -= tokens
    return true
  }
  for (const line of errorLines(searched)) if (!take(quoted(shortened(line)), left - room * ERRORS_SHARE)) break
  const shown = pieces.join(" ")
  for (const name of telling(names, isUsedLater)) {
    if (shown.includes(name)) continue
    if (left < 2) break
    take(inline(name), left)
  }
  return pieces.join(", ")
}

/** The last ones first: what a run ended with is what it failed of. */
function errorLines(text: string): readonly string[] {
  const lines = text.split("\n").map((line) => line.trim())
  const found = lines.filter(
    (line) => line !== "" && line.length < 4 * LONGEST_ERROR && ERROR_LINE.test(line) && !CODE.test(line),
  )
  return [...new Set(found.toReversed())]
}

const shortened = (line: string) => (line.length > LONGEST_ERROR ? `${line.slice(0, LONGEST_ERROR)}…` : line)

function telling(names: readonly ExactName[], isUsedLater: (name: string) => boolean): readonly string[] {
  const rank = ({ name, kind }: ExactName) => (isUsedLater(name) ? -1 : isSmall(name) ? LAST : KIND_RANK[kind])
  return names.toSorted((a, b) => rank(a) - rank(b)).map(({ name }) => name)
}

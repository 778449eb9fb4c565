/**
 * Step 5, restore. Sentences of the conversation after a boundary: decisions with their reasons, open tasks, findings and values, verbatim,
 * newest first. Those that say most come first where there is little room. What a later sentence replaced is not repeated; the later one
 * says what it was.
 */
import { handleOf } from "../../../messages/handles.ts"
import { inline } from "../../../messages/inline.ts"
import type { Uuid } from "../../../messages/messages.ts"
import type { Statement, Statements } from "../../../views/record/statements.ts"
import type { Estimate } from "../cut-text.ts"

interface StatementsToRender {
  readonly statements: Statements
  /** Tokens of all of them. */
  readonly limit: number
  readonly estimate: Estimate
  /** Messages that are in view whole. What they say is not repeated. */
  readonly inView: ReadonlySet<Uuid>
  /** The summary and the facts before them. What they have is not repeated either. */
  readonly shown: string
}

/** Only the first has sentences of the user: whatever the assistant quotes, it cannot read like theirs. */
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

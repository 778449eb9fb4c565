/** Finds words in a conversation. Ours has an index; others are looked through. */
import type { FollowedConversation } from "./followed-conversation.ts"
import { blocksIn, textIn } from "./rows.ts"
import type { NamedConversation } from "./source.ts"

export interface Hit {
  readonly uuid: string
  readonly at: number
  /** What is around the words. */
  readonly words: string
}

const MAX_HITS = 40
const AROUND = 80 // characters on each side

export interface Searched {
  readonly named: NamedConversation
  readonly followed: FollowedConversation
}

export async function findIn({ named, followed }: Searched, words: string): Promise<readonly Hit[]> {
  const answer = await named.own?.recall(words).catch(() => undefined)
  const places = new Map(followed.rows.map((row) => [row.handle, row]))
  const recalled = (answer?.state === "found" ? answer.found : []).flatMap((found): readonly Hit[] => {
    const handle = "handle" in found && typeof found.handle === "string" ? found.handle : ""
    const row = places.get(handle.split(".")[0]!)
    const text = "text" in found && typeof found.text === "string" ? found.text : ""
    if (!row) return []
    const { uuid } = row.kind === "decision" ? row.decision : row.message
    return [{ uuid, at: row.at, words: around(text, words) }]
  })
  return recalled.length > 0 ? recalled.slice(0, MAX_HITS) : lookedThrough(followed, words)
}

/** Rows that have all words, newest first. */
function lookedThrough({ rows }: FollowedConversation, words: string): readonly Hit[] {
  const wanted = words.toLowerCase().split(/\s+/)
  const hits: Hit[] = []
  for (const row of rows.toReversed()) {
    if (hits.length >= MAX_HITS) break
    if (row.kind === "decision") continue
    const text = blocksIn(row.message).map(textIn).join("\n")
    const lower = text.toLowerCase()
    if (!wanted.every((word) => lower.includes(word))) continue
    hits.push({ uuid: row.message.uuid, at: row.at, words: around(text, wanted[0]!) })
  }
  return hits
}

function around(text: string, words: string): string {
  const first = words.toLowerCase().split(/\s+/)[0]!
  const at = Math.max(0, text.toLowerCase().indexOf(first))
  const from = Math.max(0, at - AROUND)
  return `${from > 0 ? "…" : ""}${text.slice(from, at + first.length + AROUND)}${at + AROUND < text.length ? "…" : ""}`
}

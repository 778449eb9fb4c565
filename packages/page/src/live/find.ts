/** Searches a conversation. Strata conversations have an index; others are scanned. */
import type { LiveConversation } from "./live-conversation.ts"
import { blockText, entryBlocks } from "./rows.ts"
import type { NamedConversation } from "./source.ts"

export interface SearchHit {
  readonly uuid: string
  readonly at: number
  /** Text around the match. */
  readonly excerpt: string
}

const MAX_HITS = 40
const AROUND = 80 // characters on each side

export interface LoadedConversation {
  readonly named: NamedConversation
  readonly live: LiveConversation
}

export async function searchConversation(
  { named, live }: LoadedConversation,
  query: string,
): Promise<readonly SearchHit[]> {
  const answer = await named.actions?.recall(query).catch(() => undefined)
  const places = new Map(live.rows.map((row) => [row.handle, row]))
  const recalled = (answer?.state === "found" ? answer.found : []).flatMap((found): readonly SearchHit[] => {
    const handle = "handle" in found && typeof found.handle === "string" ? found.handle : ""
    const row = places.get(handle.split(".")[0]!)
    const text = "text" in found && typeof found.text === "string" ? found.text : ""
    if (!row) return []
    const { uuid } = row.kind === "decision" ? row.decision : row.message
    return [{ uuid, at: row.at, excerpt: excerptAround(text, query) }]
  })
  return recalled.length > 0 ? recalled.slice(0, MAX_HITS) : scanRows(live, query)
}

/** Rows that contain all terms, newest first. */
function scanRows({ rows }: LiveConversation, query: string): readonly SearchHit[] {
  const terms = query.toLowerCase().split(/\s+/)
  const hits: SearchHit[] = []
  for (const row of rows.toReversed()) {
    if (hits.length >= MAX_HITS) break
    if (row.kind === "decision") continue
    const text = entryBlocks(row.message).map(blockText).join("\n")
    const lower = text.toLowerCase()
    if (!terms.every((term) => lower.includes(term))) continue
    hits.push({ uuid: row.message.uuid, at: row.at, excerpt: excerptAround(text, terms[0]!) })
  }
  return hits
}

function excerptAround(text: string, query: string): string {
  const first = query.toLowerCase().split(/\s+/)[0]!
  const at = Math.max(0, text.toLowerCase().indexOf(first))
  const from = Math.max(0, at - AROUND)
  return `${from > 0 ? "…" : ""}${text.slice(from, at + first.length + AROUND)}${at + AROUND < text.length ? "…" : ""}`
}

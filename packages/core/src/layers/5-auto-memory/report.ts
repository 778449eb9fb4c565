/** Reports memories that were kept, to the person and to telemetry. */
import type { MemoryDraft } from "../../memory/memory.ts"
import type { Outcome } from "../layer.ts"
import type { Kept } from "./keep.ts"

const NAMED = 3 // memories

export function reportOf({ memories, leftOut }: Kept): Pick<Outcome, "message" | "counts"> {
  const said = [
    ...(memories.length > 0 ? [remembered(memories)] : []),
    ...(leftOut.length > 0 ? [`Not remembered: ${leftOut.join("; ")}.`] : []),
  ]
  return {
    ...(said.length > 0 ? { message: said.join(" ") } : {}),
    counts: { "memories.written": memories.length },
  }
}

function remembered(memories: readonly MemoryDraft[]): string {
  const names = memories.slice(0, NAMED).map(({ name }) => name)
  const more = memories.length - names.length
  return `Remembered: ${names.join("; ")}${more > 0 ? ` and ${more} more` : ""}.`
}

/** Two outcomes of one query, as one. */
export function together(first: Outcome | undefined, second: Outcome | undefined): Outcome | undefined {
  if (!first || !second) return first ?? second
  const messages = [first.message, second.message].filter((message) => typeof message === "string")
  const counts = { ...first.counts }
  for (const [name, count] of Object.entries(second.counts ?? {})) counts[name] = (counts[name] ?? 0) + count
  return {
    ...second,
    drafts: [...first.drafts, ...second.drafts],
    ...(messages.length > 0 ? { message: messages.join(" ") } : {}),
    counts,
    failures: [...(first.failures ?? []), ...(second.failures ?? [])],
  }
}

/** Asks the brain for a summary of a conversation: what both kinds of compaction are made of. */
import { readFileSync } from "node:fs"
import type { Answer } from "../brain.ts"
import type { Turn } from "../conversation.ts"

const DEFAULT_INSTRUCTIONS = readFileSync(new URL("summary-prompt.md", import.meta.url), "utf8").trim()

/** Own instructions take the place of the default ones. */
export const summaryInstructions = (own: string | null | undefined) => own?.trim() || DEFAULT_INSTRUCTIONS

/** The conversation with the request for a summary at its end, as its last block. */
export function askForSummary(turns: readonly Turn[], instructions: string): readonly Turn[] {
  const block = { type: "text", text: instructions }
  const placed = { block, message: -1, position: 0 }
  const last = turns.at(-1)
  if (last?.role !== "user") return [...turns, { role: "user", blocks: [placed] }]
  return [...turns.slice(0, -1), { ...last, blocks: [...last.blocks, placed] }]
}

/** The summary in an answer, without its tags; `undefined` where there is none. */
export function summaryIn({ content }: Answer): string | undefined {
  const text = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n")
  const tagged = /<summary>([\s\S]*?)<\/summary>/.exec(text)?.[1]
  return (tagged ?? text).trim() || undefined
}

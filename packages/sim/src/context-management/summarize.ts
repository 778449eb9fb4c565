/** Asks the brain to summarise a conversation: both kinds of compaction use this. */
import { promptText } from "@strata/core/parts"
import type { Answer } from "../brain.ts"
import type { Turn } from "../conversation.ts"

const DEFAULT_INSTRUCTIONS = promptText(new URL("./summary-prompt.md", import.meta.url)).trim()

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

/** L4-19: what stands around a summary when it takes the place of messages, and what it says about going on. */
import { fillPrompt } from "./prompts.ts"

export interface Continuation {
  readonly summary: string
  /** Where the whole conversation can be read; absent where it is kept in memory only. */
  readonly transcriptPath?: string | undefined
  /** Who set it off, and whether anybody is there to answer. */
  readonly mode: "automatic" | "autonomous" | "by-hand"
  /** Messages follow that were not summarised. */
  readonly keptMessages: boolean
}

const GOING_ON = { automatic: "go-on", autonomous: "go-on-alone" } as const

export function continuationText({ summary, transcriptPath, mode, keptMessages }: Continuation): string {
  return [
    fillPrompt("continues"),
    summary,
    transcriptPath ? fillPrompt("transcript", { path: transcriptPath }) : "",
    keptMessages ? fillPrompt("kept") : "",
    mode === "by-hand" ? "" : fillPrompt(GOING_ON[mode]),
  ]
    .filter((part) => part !== "")
    .join("\n\n")
}

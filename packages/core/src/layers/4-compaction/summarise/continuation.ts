/** The text around a summary that replaces messages: where it comes from, where the rest is, and how to go on. */
import { promptText } from "../../../base/prompt-file.ts"
import { handleOf } from "../../../messages/handles.ts"
import type { Uuid } from "../../../messages/messages.ts"
import { fillPrompt, textsIn } from "./prompts.ts"

export interface Continuation {
  /** Or what the check found, where the summary is signed and comes first. */
  readonly summary: string
  /** The summary comes first, by itself. */
  readonly isSigned?: boolean
  /** Where the whole conversation can be read; absent where it is kept in memory only. */
  readonly transcriptPath?: string | undefined
  /** What started the compaction, and whether a person is there to answer. */
  readonly mode: "automatic" | "autonomous" | "by-hand"
  /** The first and the last message that the summary replaces. */
  readonly replaced?: { readonly first: Uuid; readonly last: Uuid } | undefined
  /** The tool that returns messages by handle, if the model has one. */
  readonly recall?: string | undefined
  /** Messages follow that were not summarised. */
  readonly keptMessages: boolean
}

const GOING_ON = { automatic: "go on", autonomous: "go on alone" } as const
const TEXTS = textsIn(promptText(new URL("./prompts/continuation.md", import.meta.url)))

const text = (name: string, values: Readonly<Record<string, string>> = {}) => fillPrompt(TEXTS.get(name)!, values)

export function continuationText(continuation: Continuation): string {
  const { summary, transcriptPath, mode, replaced, recall, keptMessages, isSigned } = continuation
  return [
    text(isSigned ? "continued" : "continues"),
    summary,
    replaced ? rangeText(replaced, recall) : "",
    transcriptPath ? text("transcript", { path: transcriptPath }) : "",
    keptMessages && !isSigned ? text("kept") : "",
    mode === "by-hand" ? "" : text(GOING_ON[mode]),
  ]
    .filter((part) => part !== "")
    .join("\n\n")
}

const rangeText = ({ first, last }: { readonly first: Uuid; readonly last: Uuid }, tool: string | undefined): string =>
  [
    text("replaced", { first: handleOf(first), last: handleOf(last) }),
    ...(tool === undefined ? [] : [text("recall", { tool })]),
  ].join(" ")

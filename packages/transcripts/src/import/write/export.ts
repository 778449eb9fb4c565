/** Exports a conversation as a Claude Code transcript or as Markdown. Secrets are masked. */

import type { Uuid } from "@strata/core"
import { isMessage } from "@strata/core"
import type { Message } from "@strata/core/messages"
import type { Entry } from "@strata/core/store"
import { claudeCodeLines } from "./claude-code.ts"
import type { ExportInput } from "./export-input.ts"
import type { ExportFormat } from "./formats.ts"
import { markdownLines } from "./markdown.ts"
import { OmittedContent } from "./omitted.ts"
import { homeOf, Redactor } from "./redact-export.ts"

/** Options of `exportTranscript`. */
export interface ExportOptions {
  readonly to: ExportFormat
  /** Default: true. With `false`, secrets and paths stay unchanged, for a copy that you do not share. */
  readonly maskSecrets?: boolean
  /**
   * The user's home directory, written as `~`. Home directories that appear in the conversation's working directory are detected without
   * it.
   */
  readonly home?: string
}

/** A conversation written in another format. */
export interface ExportedTranscript {
  /** Content of the file. */
  readonly text: string
  /** Suggested file name. */
  readonly name: string
  /** Number of masked secrets. */
  readonly secrets: number
  /** Content that the format cannot represent, with counts. */
  readonly omitted: Readonly<Record<string, number>>
}

/** The parts of a transcript that an export needs: its active branch. */
export interface Exportable {
  readonly id: string
  readonly title?: string
  readonly cwd?: string
  readonly model?: string
  readonly entries: readonly Entry[]
  /** Abandoned branches and sub-agents, which are omitted. */
  readonly aside?: readonly Entry[]
}

const WRITERS: Readonly<Record<ExportFormat, (writing: ExportInput) => readonly string[]>> = {
  "claude-code": claudeCodeLines,
  markdown: markdownLines,
}

export function exportTranscript(transcript: Exportable, options: ExportOptions): ExportedTranscript {
  const { to, maskSecrets = true, home } = options
  const { id, title, cwd, model, entries, aside = [] } = transcript
  const homes = maskSecrets ? [home, homeOf(cwd)].filter((one) => one !== undefined) : []
  const redactor = new Redactor({ maskSecrets, homes })
  const omitted = new OmittedContent()
  omitted.add("messages on abandoned branches and of sub-agents", aside.filter(isMessage).length)
  const messages = inDeliveryOrder(entries).map((message) => redactor.message(message, omitted))
  const lines = WRITERS[to]({
    ...{ id, messages, omitted: omitted },
    ...(title === undefined ? {} : { title: redactor.text(title) }),
    ...(cwd === undefined ? {} : { cwd: redactor.text(cwd) }),
    ...(model === undefined ? {} : { model }),
  })
  return {
    text: lines.map((line) => `${line}\n`).join(""),
    name: `${id.replace(/[^A-Za-z0-9_-]/g, "-")}.${to === "markdown" ? "md" : "jsonl"}`,
    secrets: redactor.secrets,
    omitted: omitted.counts(),
  }
}

/** Orders messages as the model received them: input typed while it worked moves to where it was delivered. */
function inDeliveryOrder(entries: readonly Entry[]): readonly Message[] {
  const waiting = new Map<Uuid, Message>()
  const messages: Message[] = []
  for (const entry of entries) {
    if (!isMessage(entry)) {
      const delivered = entry.subtype === "delivered" ? waiting.get(entry.queued) : undefined
      if (!delivered) continue
      waiting.delete(delivered.uuid)
      messages.push(delivered)
    } else if (entry.isQueued) waiting.set(entry.uuid, entry)
    else if (!entry.isSidechain) messages.push(entry)
  }
  return [...messages, ...waiting.values()]
}

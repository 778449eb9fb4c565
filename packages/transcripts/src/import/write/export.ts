/** A conversation given away: written as a transcript of Claude Code, or as a page to read. Secrets are masked. */

import type { Uuid } from "@strata/core"
import { isMessage } from "@strata/core"
import type { Message } from "@strata/core/messages"
import type { Entry } from "@strata/core/store"
import { claudeCodeLines } from "./claude-code.ts"
import type { ExportFormat } from "./formats.ts"
import { Disguiser, homeOf } from "./given-away.ts"
import { LeftOut } from "./left-out.ts"
import { markdownLines } from "./markdown.ts"
import type { Writing } from "./writing.ts"

/** Options of `exportTranscript`. */
export interface ExportOptions {
  readonly to: ExportFormat
  /** Default: true. With `false`, secrets and paths stay as they are: for a copy that stays yours. */
  readonly maskSecrets?: boolean
  /** The person's home directory, written as `~`. Homes that the conversation's own directory shows are found without it. */
  readonly home?: string
}

/** A conversation written in another format. */
export interface ExportedTranscript {
  /** The whole file. */
  readonly text: string
  /** A name for the file. */
  readonly name: string
  /** How many secrets were masked. */
  readonly secrets: number
  /** What the format cannot hold, with how often. */
  readonly leftOut: Readonly<Record<string, number>>
}

/** What an export needs of a transcript: its main path. */
export interface Exportable {
  readonly id: string
  readonly title?: string
  readonly cwd?: string
  readonly model?: string
  readonly entries: readonly Entry[]
  /** Abandoned branches and sub-agents. They are left out. */
  readonly aside?: readonly Entry[]
}

const WRITERS: Readonly<Record<ExportFormat, (writing: Writing) => readonly string[]>> = {
  "claude-code": claudeCodeLines,
  markdown: markdownLines,
}

export function exportTranscript(transcript: Exportable, options: ExportOptions): ExportedTranscript {
  const { to, maskSecrets = true, home } = options
  const { id, title, cwd, model, entries, aside = [] } = transcript
  const homes = maskSecrets ? [home, homeOf(cwd)].filter((one) => one !== undefined) : []
  const disguiser = new Disguiser({ maskSecrets, homes })
  const leftOut = new LeftOut()
  leftOut.add("messages on abandoned branches and of sub-agents", aside.filter(isMessage).length)
  const messages = inOrder(entries).map((message) => disguiser.message(message, leftOut))
  const lines = WRITERS[to]({
    ...{ id, messages, leftOut },
    ...(title === undefined ? {} : { title: disguiser.text(title) }),
    ...(cwd === undefined ? {} : { cwd: disguiser.text(cwd) }),
    ...(model === undefined ? {} : { model }),
  })
  return {
    text: lines.map((line) => `${line}\n`).join(""),
    name: `${id.replace(/[^A-Za-z0-9_-]/g, "-")}.${to === "markdown" ? "md" : "jsonl"}`,
    secrets: disguiser.secrets,
    leftOut: leftOut.counts(),
  }
}

/** The messages as the model got them: what was typed while it worked comes where it was delivered. */
function inOrder(entries: readonly Entry[]): readonly Message[] {
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

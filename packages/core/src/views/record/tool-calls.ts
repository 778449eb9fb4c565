/** Pairs each tool call with its result as entries come in, for the views about what tools did. */

import { type Entry, isMessage } from "../../journal/entries.ts"
import { type Block, isToolResult, isToolUse, resultBlocks, type ToolResult, textOf } from "../../messages/blocks.ts"
import type { KeptChange } from "../../messages/kept-change.ts"
import {
  type AssistantMessage,
  type CallChanges,
  contentOf,
  type FileChange,
  type UserMessage,
  type Uuid,
} from "../../messages/messages.ts"

const CHANGES: ReadonlySet<unknown> = new Set<FileChange["what"]>(["created", "changed", "deleted"])

export interface OpenCall {
  readonly id: string
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
}

export interface FinishedCall extends OpenCall {
  readonly uuid: Uuid
  readonly failed: boolean
  readonly output: string
  /** The files that changed on disk while it ran, where that was looked at. */
  readonly changed?: readonly FileChange[]
  /** What a file tool changed, with sums of the contents. */
  readonly kept?: readonly KeptChange[]
}

/** Adds the calls of an entry to `open` and returns those that it finishes. */
export function followCalls(open: Map<string, OpenCall>, entry: Entry): readonly FinishedCall[] {
  if (!isMessage(entry) || entry.isSidechain || (entry.type !== "assistant" && entry.type !== "user")) return []
  return [...finishedIn(entry, open), ...withoutCall(entry)]
}

function finishedIn(entry: AssistantMessage | UserMessage, open: Map<string, OpenCall>): readonly FinishedCall[] {
  return contentOf(entry).flatMap((block): FinishedCall[] => {
    if (isToolUse(block)) {
      open.set(block.id, { id: block.id, tool: block.name, input: asRecord(block.input) })
      return []
    }
    const call = isToolResult(block) ? open.get(block.tool_use_id) : undefined
    if (!call) return []
    open.delete(call.id)
    const result = block as ToolResult
    const changes = entry.type === "user" ? changesOf(call, entry) : undefined
    const [changed, kept] = [filesIn(changes), keptIn(changes)]
    return [
      {
        ...call,
        uuid: entry.uuid,
        failed: result.is_error === true,
        output: outputOf(result),
        ...(changed.length > 0 ? { changed } : {}),
        ...(kept.length > 0 ? { kept } : {}),
      },
    ]
  })
}

/** Changes of commands that the model wrote in its text: such a message has no result. */
function withoutCall(entry: AssistantMessage | UserMessage): readonly FinishedCall[] {
  if (entry.type !== "user" || !Array.isArray(entry.filesChanged) || contentOf(entry).some(isToolResult)) return []
  const { uuid, filesChanged } = entry
  const call = { id: "", tool: "", input: {}, uuid, failed: false, output: "" }
  return filesChanged.map((changes) => ({ ...call, changed: filesIn(changes) }))
}

function changesOf({ id }: OpenCall, { filesChanged }: UserMessage): Partial<CallChanges> | undefined {
  return Array.isArray(filesChanged) ? filesChanged.find((changes) => changes?.callId === id) : undefined
}

/** A line that was edited by hand may hold anything there. */
function filesIn(changes: Partial<CallChanges> | null | undefined): readonly FileChange[] {
  const files = changes?.files
  return Array.isArray(files) ? files.filter((file) => typeof file?.path === "string" && CHANGES.has(file.what)) : []
}

function keptIn(changes: Partial<CallChanges> | undefined): readonly KeptChange[] {
  const kept = changes?.kept
  return Array.isArray(kept) ? kept.filter((change) => typeof change?.path === "string") : []
}

function outputOf(result: ToolResult): string {
  return typeof result.content === "string" ? result.content : textOf(resultBlocks(result) as readonly Block[])
}

function asRecord(input: unknown): Readonly<Record<string, unknown>> {
  if (typeof input === "object" && input !== null) return input as Record<string, unknown>
  return typeof input === "string" ? { input } : {}
}

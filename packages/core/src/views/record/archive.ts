/**
 * The archive: the address of every block, so that anything ever said can be recalled byte for byte. An address is
 * `<message uuid>.<block>`, or `<message uuid>.<block>.<inner block>` inside a tool result. The journal's index finds the message; the
 * view knows the addresses of tool calls and their results.
 */

import { type Entry, isMessage } from "../../journal/entries.ts"
import { type Block, isToolResult, isToolUse, resultBlocks, toBlocks } from "../../messages/blocks.ts"
import { contentOf, isBoundary } from "../../messages/messages.ts"
import type { Projection } from "../projection.ts"

export interface Archive {
  blocks: number
  messages: number
  /** Addresses of tool results by call id, since the last boundary. */
  readonly results: Map<string, string>
  readonly calls: Map<string, string>
}

export const archive: Projection<Archive> = {
  name: "archive",
  scope: "journal",
  start: () => ({ blocks: 0, messages: 0, results: new Map(), calls: new Map() }),
  apply(state, entry, onPath = true) {
    if (!isMessage(entry)) return state
    state.messages++
    if (onPath && isBoundary(entry)) {
      state.results.clear()
      state.calls.clear()
    }
    if (entry.type !== "user" && entry.type !== "assistant") return state
    contentOf(entry).forEach((block, at) => {
      state.blocks++
      if (isToolResult(block)) state.results.set(block.tool_use_id, `${entry.uuid}.${at}`)
      if (isToolUse(block)) state.calls.set(block.id, `${entry.uuid}.${at}`)
    })
    return state
  },
}

export interface BlockAddress {
  readonly uuid: string
  readonly block: number
  readonly inner?: number
}

export function parseAddress(address: string): BlockAddress | undefined {
  const match = /^([^.]+)\.(\d+)(?:\.(\d+))?$/.exec(address)
  if (!match) return undefined
  const [, uuid, block, inner] = match
  return { uuid: uuid!, block: Number(block), ...(inner === undefined ? {} : { inner: Number(inner) }) }
}

/** The block at an address inside its entry. */
export function blockAt(entry: Entry, { block, inner }: BlockAddress): Block | undefined {
  if (!isMessage(entry) || (entry.type !== "user" && entry.type !== "assistant")) return undefined
  const outer = toBlocks(entry.message.content)[block]
  if (outer === undefined || inner === undefined) return outer
  return isToolResult(outer) ? resultBlocks(outer)[inner] : undefined
}

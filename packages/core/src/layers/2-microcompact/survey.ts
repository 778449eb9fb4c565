/**
 * What there is to clear: every clearable result that is still shown whole, oldest first, with its size and what stands around it; and
 * what must be known to clear it well. A result is measured once. Its size does not follow the calibration, so that it is the same in a
 * conversation that was opened again; `scale` tells what all of them come to by what is known now.
 */
import type { Flags } from "../../base/flags.ts"
import { isThinking, isToolResult, isToolUse, type ToolResult } from "../../messages/blocks.ts"
import type { Message, Uuid } from "../../messages/messages.ts"
import { sentBlocks } from "../../messages/sent-blocks.ts"
import { createEstimator, type Estimator, type Measure } from "../../tokens/estimate.ts"
import { renderCleared, renderClearedMemory } from "../../views/context/render-decisions.ts"
import type { Views } from "../../views/views.ts"
import { type MessageFold, SettledFold } from "./settled-fold.ts"

/** Their results can be had again by calling them again. */
export const READ_LIKE = ["Read", "Bash", "Grep", "Glob", "WebFetch", "WebSearch"] as const
/** Their results say little; what is large is their input. */
export const WRITE_LIKE = ["Edit", "Write"] as const

const CLEARABLE = [...READ_LIKE, ...WRITE_LIKE]

interface Standing {
  /** Tokens of the conversation that stand before it. */
  readonly before: number
}

interface Removable extends Standing {
  /** What clearing takes away: a marker stays. */
  readonly saving: number
}

export interface ClearableResult extends Removable {
  readonly toolUseId: string
  readonly tokens: number
}

export interface Survey {
  readonly results: readonly ClearableResult[]
  /** Thinking that is sent, in the order it stands. */
  readonly thinking: readonly (Standing & { readonly tokens: number })[]
  /** Memories that were recalled and are still shown. */
  readonly memories: readonly (Removable & { readonly uuid: Uuid })[]
  /** Results that are deleted in the server's cache and stand here whole. */
  readonly deleted: readonly (Standing & { readonly toolUseId: string })[]
  /** Tokens of the whole conversation. */
  readonly tokens: number
  /** Times a size here: the tokens it takes by what calibration knows. */
  readonly scale: number
}

interface Looked {
  readonly tools: Map<string, string>
  readonly results: ClearableResult[]
  readonly thinking: { tokens: number; before: number }[]
  readonly memories: { uuid: Uuid; saving: number; before: number }[]
  readonly deleted: { toolUseId: string; before: number }[]
  tokens: number
  measure: Measure
}

interface Surveyed {
  readonly views: Views
  readonly flags: Pick<Flags, "clearableTools">
}

const followed = new WeakMap<Views, SettledFold<Looked>>()

/** `flags` name tools besides ours that can be cleared; they are the same as long as the conversation is open. */
export function survey({ views, flags }: Surveyed): Survey {
  const plain = plainEstimator(views)
  const clearable = new Set<string>([...CLEARABLE, ...(flags.clearableTools ?? [])])
  const fold = followed.get(views) ?? new SettledFold(lookAt(views, { plain, clearable }))
  followed.set(views, fold)
  const { results, thinking, memories, deleted, tokens, measure } = fold.over(views.context)
  const scale = tokens > 0 ? views.estimator.tokens(measure) / tokens : 1
  return { results, thinking, memories, deleted, tokens, scale }
}

const plainEstimators = new WeakMap<Views, Estimator>()

/** Of the same family, and nothing learnt. */
function plainEstimator(views: Views): Estimator {
  const plain = plainEstimators.get(views) ?? createEstimator(views.estimator.family)
  plainEstimators.set(views, plain)
  return plain
}

interface Looking {
  readonly plain: Estimator
  readonly clearable: ReadonlySet<string>
}

function lookAt({ context, estimator }: Views, { plain, clearable }: Looking): MessageFold<Looked> {
  return {
    start: () => ({
      ...{ tools: new Map(), results: [], thinking: [], memories: [], deleted: [], tokens: 0 },
      measure: estimator.measure([]),
    }),

    // calls stand in responses, and what is taken into a copy comes behind the newest of those: they can be shared
    copy: (looked) => ({
      ...looked,
      results: looked.results.slice(), // faster than spreading: there may be thousands
      thinking: looked.thinking.slice(),
      memories: looked.memories.slice(),
      deleted: looked.deleted.slice(),
    }),

    take(looked, message) {
      takeMemory(looked, message)
      for (const [at, block] of sentBlocks(message).entries()) {
        const measure = estimator.measure([block])
        const tokens = plain.tokens(measure)
        const { tokens: before } = looked
        if (isToolUse(block)) looked.tools.set(block.id, block.name)
        else if (isThinking(block)) looked.thinking.push({ tokens, before })
        else if (isToolResult(block)) takeResult(looked, block, { address: `${message.uuid}.${at}`, tokens })
        looked.tokens += tokens
        looked.measure = estimator.sum([looked.measure, measure])
      }
    },
  }

  function takeResult(
    looked: Looked,
    block: ToolResult,
    { address, tokens }: { address: string; tokens: number },
  ): void {
    const { tool_use_id: toolUseId } = block
    const { tokens: before } = looked
    if (!clearable.has(looked.tools.get(toolUseId) ?? "") || context.resultAddress(toolUseId) !== address) return
    if (!context.isCleared(toolUseId)) {
      const saving = tokens - plain.block(renderCleared(block, address))
      looked.results.push({ toolUseId, tokens, saving, before })
    } else if (context.isDeletedInCache(toolUseId)) looked.deleted.push({ toolUseId, before })
  }

  function takeMemory({ memories, tokens: before }: Looked, message: Message): void {
    if (message.type !== "attachment" || message.attachment.type !== "memory") return
    if (context.isClearedMemory(message.uuid)) return
    const saving = plain.blocks(sentBlocks(message)) - plain.blocks(sentBlocks(renderClearedMemory(message)))
    memories.push({ uuid: message.uuid, saving, before })
  }
}

/**
 * What there is to clear: every clearable result that is still shown whole, oldest first, with its size and place. A result that holds
 * words of the person is not among them. A result is measured once. Its size does not follow the calibration, so a conversation that was opened again finds the same; `scale` converts it to the
 * tokens that calibration expects now.
 */

import { type Block, isThinking, isToolResult, isToolUse, type ToolResult } from "../../messages/blocks.ts"
import type { Message, Uuid } from "../../messages/messages.ts"
import { holdsPersonsWords } from "../../messages/said-in-results.ts"
import { sentBlocks } from "../../messages/sent-blocks.ts"
import type { Flags } from "../../settings/flags.ts"
import { createEstimator, type Estimator, type Measure } from "../../tokens/estimate.ts"
import { addMeasure, type RunningMeasure, runningMeasure } from "../../tokens/measure.ts"
import { renderCleared, renderClearedMemory } from "../../views/context/render-decisions.ts"
import type { Views } from "../../views/views.ts"
import { type MessageFold, SettledFold } from "../settled-fold.ts"
import { residueRoom } from "./residue.ts"

/** Calling them again gives the result again. */
export const READ_LIKE = ["Read", "Bash", "Grep", "Glob", "WebFetch", "WebSearch", "Recall"] as const
/** Their results are short; their input is large. */
export const WRITE_LIKE = ["Edit", "Write"] as const

const CLEARABLE = [...READ_LIKE, ...WRITE_LIKE]

interface Placed {
  /** Tokens of the conversation before it. */
  readonly before: number
}

interface Removable extends Placed {
  /** Tokens that clearing removes. A marker and a residue stay. */
  readonly saving: number
}

/** Sums over a list up to one of its items, so that a question about many results is answered without a look at each. */
interface UpTo {
  readonly tokens: number
  /** Of those that are larger than what would stay in their place. Only these are cleared. */
  readonly worthwhile: { readonly tokens: number; readonly saving: number; readonly first: number }
}

export interface ClearableResult extends Removable {
  readonly toolUseId: string
  readonly tokens: number
  /** Of all results up to this one, and including it. */
  readonly upTo: UpTo
}

/** What a plan for single results looks at. */
export type Candidate = Pick<ClearableResult, "toolUseId" | "saving">

export interface Thinking extends Placed {
  readonly tokens: number
  /** Tokens of all thinking up to this, and including it. */
  readonly upTo: number
}

export interface Survey {
  readonly results: readonly ClearableResult[]
  /** Thinking that is sent, oldest first. */
  readonly thinking: readonly Thinking[]
  /** Recalled memories that are still shown. */
  readonly memories: readonly (Removable & { readonly uuid: Uuid })[]
  /** Results that are deleted in the server's cache and still whole here. */
  readonly deleted: readonly (Placed & { readonly toolUseId: string })[]
  /** Results of clearable tools that hold words of the person. */
  readonly spoken: readonly string[]
  /** Tokens of the whole conversation. */
  readonly tokens: number
  /** A size here times this is the number of tokens that calibration expects. */
  readonly scale: number
}

interface Looked {
  readonly tools: Map<string, string>
  readonly results: ClearableResult[]
  readonly thinking: Thinking[]
  readonly memories: { uuid: Uuid; saving: number; before: number }[]
  readonly deleted: { toolUseId: string; before: number }[]
  readonly spoken: string[]
  /** Messages taken. */
  count: number
  tokens: number
  measure: RunningMeasure
}

interface Surveyed {
  readonly views: Views
  readonly flags: Pick<Flags, "clearableTools">
}

const NONE: UpTo = { tokens: 0, worthwhile: { tokens: 0, saving: 0, first: Number.POSITIVE_INFINITY } }

/** Adds a result to the list, with the sums up to it. */
export function addResult(results: ClearableResult[], result: Omit<ClearableResult, "upTo">): void {
  const { tokens, worthwhile } = results.at(-1)?.upTo ?? NONE
  const upTo = {
    tokens: tokens + result.tokens,
    worthwhile:
      result.saving <= 0
        ? worthwhile
        : {
            tokens: worthwhile.tokens + result.tokens,
            saving: worthwhile.saving + result.saving,
            first: Math.min(worthwhile.first, result.before),
          },
  }
  results.push({ ...result, upTo })
}

/** Adds thinking to the list, with the sum up to it. */
export function addThinking(list: Thinking[], thinking: Omit<Thinking, "upTo">): void {
  list.push({ ...thinking, upTo: (list.at(-1)?.upTo ?? 0) + thinking.tokens })
}

const followed = new WeakMap<Views, SettledFold<Looked>>()

/** Whether a survey costs only what is new. */
export const isFollowed = (views: Views): boolean => followed.has(views)

/** `flags` names tools besides ours that can be cleared. They do not change while the conversation is open. */
export function survey({ views, flags }: Surveyed): Survey {
  const plain = plainEstimator(views)
  const clearable = new Set<string>([...CLEARABLE, ...flags.clearableTools])
  const fold = followed.get(views) ?? new SettledFold(lookAt(views, { plain, clearable }))
  followed.set(views, fold)
  return scaled(fold.over(views.context), views)
}

/** The same with the results of every tool, for a person who asks. Nothing is kept between two calls. */
export function surveyAll({ views }: Pick<Surveyed, "views">): Survey {
  const looking = { plain: plainEstimator(views), clearable: { has: () => true } }
  const fold = new SettledFold(lookAt(views, looking))
  return scaled(fold.over(views.context), views)
}

function scaled(
  { results, thinking, memories, deleted, spoken, tokens, measure }: Looked,
  { estimator }: Views,
): Survey {
  const scale = tokens > 0 ? estimator.tokens(measure) / tokens : 1
  return { results, thinking, memories, deleted, spoken, tokens, scale }
}

const plainEstimators = new WeakMap<Views, Estimator>()

/** For the same model family, without calibration. */
function plainEstimator(views: Views): Estimator {
  const plain = plainEstimators.get(views) ?? createEstimator(views.estimator.family)
  plainEstimators.set(views, plain)
  return plain
}

interface Looking {
  readonly plain: Estimator
  readonly clearable: { has(tool: string): boolean }
}

interface MeasuredMessage {
  readonly message: Message
  readonly blocks: readonly MeasuredBlock[]
}

interface MeasuredBlock {
  readonly block: Block
  readonly measure: Measure
  readonly tokens: number
  /** What clearing a result saves. It is taken twice: first as what no response has followed yet. */
  saving?: number
}

function lookAt({ context, estimator }: Views, { plain, clearable }: Looking): MessageFold<Looked> {
  /** By place. After a decision all messages are taken again, and those that it left alone need not be measured. */
  const measured: MeasuredMessage[] = []

  return {
    start: () => ({
      ...{ tools: new Map(), results: [], thinking: [], memories: [], deleted: [], spoken: [], count: 0, tokens: 0 },
      measure: runningMeasure(),
    }),

    // calls are in responses, and nothing after the newest response is kept: the map stays as it is
    mark(looked) {
      const { count, tokens } = looked
      const measure = runningMeasure(looked.measure)
      measured.length = count
      const lists = [looked.results, looked.thinking, looked.memories, looked.deleted, looked.spoken]
      const lengths = lists.map(({ length }) => length)
      return () => {
        for (const [at, list] of lists.entries()) list.length = lengths[at]!
        Object.assign(looked, { count, tokens, measure })
      }
    },

    take(looked, message) {
      takeMemory(looked, message)
      const { blocks } = measuredAt(looked.count++, message)
      for (let at = 0; at < blocks.length; at++) {
        const each = blocks[at]!
        const { block, measure, tokens } = each
        const { tokens: before } = looked
        if (isToolUse(block)) looked.tools.set(block.id, block.name)
        else if (isThinking(block)) addThinking(looked.thinking, { tokens, before })
        else if (isToolResult(block)) takeResult(looked, each, { message, address: `${message.uuid}.${at}` })
        looked.tokens += tokens
        addMeasure(looked.measure, measure)
      }
    },
  }

  function measuredAt(place: number, message: Message): MeasuredMessage {
    const known = measured[place]
    if (known?.message === message) return known
    const blocks = sentBlocks(message).map((block, at): MeasuredBlock => {
      const same = known?.blocks[at]
      if (same?.block === block) return same
      const measure = estimator.measure([block])
      return { block, measure, tokens: plain.tokens(measure) }
    })
    const fresh = { message, blocks }
    measured[place] = fresh
    return fresh
  }

  function takeResult(
    looked: Looked,
    measured: MeasuredBlock,
    { message, address }: { readonly message: Message; readonly address: string },
  ): void {
    const { tokens } = measured
    const block = measured.block as ToolResult
    const { tool_use_id: toolUseId } = block
    const { tokens: before } = looked
    if (!clearable.has(looked.tools.get(toolUseId) ?? "") || context.resultAddress(toolUseId) !== address) return
    if (holdsPersonsWords(message, block)) {
      looked.spoken.push(toolUseId)
      return
    }
    if (!context.isCleared(toolUseId)) {
      measured.saving ??= tokens - plain.block(renderCleared(block, address)) - residueRoom(tokens)
      addResult(looked.results, { toolUseId, tokens, saving: measured.saving, before })
    } else if (context.isDeletedInCache(toolUseId)) looked.deleted.push({ toolUseId, before })
  }

  function takeMemory({ memories, tokens: before }: Looked, message: Message): void {
    if (message.type !== "attachment" || message.attachment.type !== "memory") return
    if (context.isClearedMemory(message.uuid)) return
    const saving = plain.blocks(sentBlocks(message)) - plain.blocks(sentBlocks(renderClearedMemory(message)))
    memories.push({ uuid: message.uuid, saving, before })
  }
}

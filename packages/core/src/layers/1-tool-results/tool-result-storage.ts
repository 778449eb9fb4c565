/**
 * Layer 1: a large tool result is written to a file before it is first sent; in the context stands a preview that says where the rest
 * is. The one gate for every tool, those of MCP servers included.
 *
 * A decision is made when a result arrives and never again: what was kept stays, also when the figures change (L1-4). Where a result
 * cannot be written, it stays in the context whole, and the error tells the user so (L1-5).
 */
import { reasonOf, StrataError } from "../../base/errors.ts"
import { MOST_RESULT_CHARACTERS } from "../../base/flags.ts"
import { isSafeId } from "../../base/ids.ts"
import type { DecisionDraft, DecisionOf, Effect } from "../../journal/entries.ts"
import { isToolResult, type ToolResult } from "../../messages/blocks.ts"
import { contentOf } from "../../messages/messages.ts"
import { previewedText, renderPersisted } from "../../views/context/render-decisions.ts"
import { parseAddress } from "../../views/record/archive.ts"
import type { Layer, Turn } from "../layer.ts"
import { toolOf } from "../tool-of.ts"
import { type ArrivedResult, type Placement, planRound } from "./plan.ts"
import { mostShown, previewOf } from "./preview.ts"
import { charactersOf, isEmptyResult, mediaFiles, wholeFile } from "./result-content.ts"

const PERSISTED = "tool-result-persisted"

export interface ToolResultStorageOptions {
  /** Tools that keep their results short themselves: only a limit that is set for one of them by name holds for it. */
  readonly limitsItself?: readonly string[]
  /** Hears which results are no longer whole in view, so that files they showed can be read again. */
  readonly onPutAside?: (toolUseIds: readonly string[]) => void
}

export function toolResultStorage({ limitsItself = [], onPutAside }: ToolResultStorageOptions = {}): Layer {
  const selfLimiting = new Set(limitsItself)
  /** One plan for all results of a message: what is done to the first does not change what becomes of the last. */
  const plans = new WeakMap<readonly ToolResult[], ReadonlyMap<string, Placement>>()
  return {
    name: "tool-results",

    async onToolResult(result, turn, together) {
      if (!(await turn.flags.isOn("tool-result-storage")) || !isFirstResult(result, turn)) return []
      if (isEmptyResult(result)) return [await emptyMarker(result, turn)]
      const plan = plans.get(together) ?? (await planFor(together, turn))
      plans.set(together, plan)
      if (plan.get(result.tool_use_id) === "stays") return []
      const decision = await putAside(result, turn)
      onPutAside?.([result.tool_use_id])
      return [decision]
    },

    describe(drafts, { saved }) {
      const count = drafts.filter((draft) => "subtype" in draft && draft.subtype === PERSISTED).length
      if (count === 0) return undefined
      const results = count === 1 ? "A large tool result was" : `${count} large tool results were`
      return `${results} put aside: ${saved.toLocaleString("en-US")} tokens saved.`
    },
  }

  async function planFor(together: readonly ToolResult[], turn: Turn): Promise<ReadonlyMap<string, Placement>> {
    return planRound({
      results: await Promise.all(together.map((result) => arrived(result, turn))),
      standing: standingCharacters(turn, together),
      budget: await turn.flags.figure("message-results-limit"),
      previewSize: mostShown(await turn.flags.figure("tool-result-preview")),
    })
  }

  async function arrived(result: ToolResult, turn: Turn): Promise<ArrivedResult> {
    const tool = await toolOf(result.tool_use_id, turn)
    const limitsItself = selfLimiting.has(tool)
    return {
      toolUseId: result.tool_use_id,
      characters: charactersOf(result),
      limit: await turn.flags.toolResultLimit(tool, limitsItself ? MOST_RESULT_CHARACTERS : undefined),
      limitsItself,
    }
  }
}

/** A second result for the same call is not shown, so nothing is decided about it. */
function isFirstResult({ tool_use_id: id }: ToolResult, { views }: Turn): boolean {
  const shown = parseAddress(views.context.resultAddress(id) ?? "")
  const newest = parseAddress(views.archive.results.get(id) ?? "")
  return shown !== undefined && shown.uuid === newest?.uuid
}

/** Of results in the same round that came before these. What came after them counts nothing, also where they are looked at late. */
function standingCharacters({ views }: Turn, together: readonly ToolResult[]): number {
  const inMessages = views.context
    .sinceResponse()
    .map((message) => (message.type === "user" ? contentOf(message).filter(isToolResult) : []))
  const own = inMessages.findIndex((results) => idsOf(results) === idsOf(together))
  return inMessages
    .slice(0, Math.max(0, own))
    .flat()
    .reduce((sum, result) => sum + charactersOf(result), 0)
}

const idsOf = (results: readonly ToolResult[]) => results.map(({ tool_use_id }) => tool_use_id).join(" ")

async function emptyMarker({ tool_use_id }: ToolResult, turn: Turn): Promise<DecisionDraft> {
  return {
    type: "strata",
    subtype: "tool-result-empty",
    toolUseId: tool_use_id,
    tool: await toolOf(tool_use_id, turn),
  }
}

async function putAside(result: ToolResult, turn: Turn): Promise<DecisionDraft> {
  const { journal, flags } = turn
  const { tool_use_id: toolUseId } = result
  if (!isSafeId(toolUseId)) throw new ResultNotStoredError(toolUseId, "its id cannot be the name of a file")
  try {
    const whole = wholeFile(result)
    const media = []
    for (const { name, data, mediaType } of mediaFiles(result)) {
      const { location, bytes } = await journal.writeBlob(name, data)
      media.push({ path: location, mediaType, bytes })
    }
    const { location, bytes } = await journal.writeBlob(whole.name, whole.data)
    const decision = {
      type: "strata",
      subtype: PERSISTED,
      toolUseId,
      path: location,
      bytes,
      ...previewOf(previewedText(result), await flags.figure("tool-result-preview")),
      ...(media.length > 0 ? { media } : {}),
    } as const
    return { ...decision, effect: effectOf(result, decision, turn) }
  } catch (error) {
    throw new ResultNotStoredError(toolUseId, reasonOf(error))
  }
}

/** It was never sent whole, so nothing is written to the cache again. */
function effectOf(result: ToolResult, decision: DecisionOf<typeof PERSISTED>, { views }: Turn): Effect {
  const { context, estimator } = views
  const shown = renderPersisted(result, decision, context.resultAddress(result.tool_use_id) ?? "")
  return { saves: Math.max(0, Math.round(estimator.block(result) - estimator.block(shown))), rewrites: 0 }
}

/** L1-5: nothing was lost, but the context is fuller than it had to be. */
export class ResultNotStoredError extends StrataError {
  override readonly name = "ResultNotStoredError"

  constructor(toolUseId: string, why: string) {
    super(
      `The large result of the call ${JSON.stringify(toolUseId)} could not be put aside: ${why}. It stays in the context whole.`,
    )
  }
}

/**
 * Layer 1: offloads a large tool result before it is first sent, to a file if the store keeps files. The context gets a preview that says
 * where the rest is. The layer applies to every tool, including those of MCP servers.
 *
 * The layer decides once, when a result arrives, and does not reconsider when the limits change: old results are cleared by
 * `microcompaction.ts`. A result that cannot be written stays in the context, and the user gets a message. It is shortened if its tool
 * defines a short size; the journal always has the complete result.
 */

import { isSafeId } from "../../base/clock.ts"
import { errorReason, StrataError } from "../../base/errors.ts"
import { formatNumber } from "../../base/text.ts"
import type { DecisionDraft, DecisionEffect, DecisionOf } from "../../journal/entries.ts"
import {
  type Block,
  isMedia,
  isText,
  isToolResult,
  type Media,
  resultBlocks,
  type ToolResult,
} from "../../messages/blocks.ts"
import { findUserTextInResults } from "../../messages/message-identity.ts"
import { contentOf } from "../../messages/messages.ts"
import { MAX_RESULT_CHARACTERS } from "../../settings/flag-client.ts"
import { RECALL_TOOL } from "../../tools/session/recall-source.ts"
import { previewText, renderPersisted } from "../../views/context/render-decisions.ts"
import { parseAddress } from "../../views/record/decisions.ts"
import { findToolCall, findToolName } from "../find-tool-call.ts"
import type { Layer, LayerContext } from "../layer.ts"
import { cutBefore, maxPreviewSize, previewOf } from "./preview.ts"

const PERSISTED = "tool-result-persisted"
const MAX_REASON = 300 // characters of an error that the model sees
const MAX_READ_BACK = 50_000 // characters: a result that reads back one of our files stays complete up to this size, however small the limit is
const OUR_FILES = /([\w-]+)\.(?:txt|json)\b/g // `<call>.txt`, `<call>.json`

export interface ToolResultStorageOptions {
  /** Tools that limit the size of their own results: only a limit that is configured for such a tool by name applies to it. */
  readonly limitsItself?: readonly string[]
  /** Number of characters that stay of a tool's result if it cannot be offloaded. Results of tools that are not listed stay complete. */
  readonly shortResults?: ReadonlyMap<string, number>
  /** Called with the ids of results that are no longer completely in view, so that files they showed can be read again. */
  readonly onOffload?: (toolUseIds: readonly string[]) => void
}

export function toolResultStorage(options: ToolResultStorageOptions = {}): Layer {
  const { limitsItself = [], shortResults = new Map(), onOffload } = options
  const selfLimiting = new Set(limitsItself)
  return {
    name: "tool-results",

    async onToolResults(context, results) {
      if (!context.flags.on["tool-result-storage"]) return undefined
      const arrived = results.filter((result) => isFirstForCall(result, context))
      if (arrived.length === 0) return undefined
      const plan = await planFor(results, context)
      const { drafts, failures, offloaded, cut } = await storeResults(arrived, { plan, context, shortResults })
      const count = offloaded.length
      return {
        drafts,
        failures,
        message: ({ saved }) => {
          if (count === 0) return undefined
          const subject = count === 1 ? "A large tool result was" : `${count} large tool results were`
          return `${subject} offloaded: ${formatNumber(saved)} tokens saved.`
        },
        async journaled() {
          if (count + cut.length > 0) onOffload?.([...offloaded, ...cut])
        },
      }
    },
  }

  /** Plans all results of a message together, so that the decision about the first does not change the one about the last. */
  async function planFor(
    results: readonly ToolResult[],
    context: LayerContext,
  ): Promise<ReadonlyMap<string, Placement>> {
    const { figures } = context.flags
    return planRound({
      results: await Promise.all(results.map((result) => arrivedResult(result, context))),
      before: charactersBefore(results, context),
      budget: figures["message-results-limit"],
      previewSize: maxPreviewSize(figures["tool-result-preview"]),
    })
  }

  async function arrivedResult(result: ToolResult, context: LayerContext): Promise<ArrivedResult> {
    const tool = await findToolName(result.tool_use_id, context)
    const isSelfLimiting = selfLimiting.has(tool)
    const characters = charactersOf(result)
    const limit = context.flags.toolResultLimit(tool, isSelfLimiting ? MAX_RESULT_CHARACTERS : undefined)
    const hasUserText = findUserTextInResults([result], new Map([[result.tool_use_id, tool]])).length > 0
    const isReadBack = characters > limit && characters <= MAX_READ_BACK && (await readsBack(result, context))
    return {
      toolUseId: result.tool_use_id,
      characters,
      limit: isReadBack ? MAX_READ_BACK : limit,
      limitsItself: isSelfLimiting || isReadBack,
      ...(hasUserText ? { hasUserText } : {}),
    }
  }
}

/** Whether a call reads a file of this layer. If such a result were offloaded again, the model could never see the content. */
async function readsBack({ tool_use_id: id }: ToolResult, context: LayerContext): Promise<boolean> {
  const { results } = context.views.archive
  const names = (text: string) => text.matchAll(OUR_FILES).some(([, name]) => results.has(name!))
  const isNamedIn = (value: unknown): boolean =>
    typeof value === "object" && value !== null ? Object.values(value).some(isNamedIn) : names(String(value))
  return isNamedIn((await findToolCall(id, context))?.input)
}

interface StorageResult {
  readonly drafts: readonly DecisionDraft[]
  readonly failures: readonly unknown[]
  readonly offloaded: readonly string[]
  /** Results that could not be offloaded and were shortened. */
  readonly cut: readonly string[]
}

interface StorageInput {
  readonly plan: ReadonlyMap<string, Placement>
  readonly context: LayerContext
  readonly shortResults: ReadonlyMap<string, number>
}

/** A result that cannot be stored does not prevent the others from being offloaded. */
async function storeResults(
  results: readonly ToolResult[],
  { plan, context, shortResults }: StorageInput,
): Promise<StorageResult> {
  const drafts: DecisionDraft[] = []
  const failures: unknown[] = []
  const stored: string[] = []
  const cut: string[] = []
  for (const result of results) {
    const { tool_use_id: id } = result
    try {
      if (isEmptyResult(result)) drafts.push(await emptyMarker(result, context))
      else if (plan.get(id) !== "stays") {
        drafts.push(await offload(result, context))
        stored.push(id)
      }
    } catch (error) {
      const reason = errorReason(error)
      const shortened = cutResult(result, { why: reason, max: shortResults.get(await findToolName(id, context)) })
      failures.push(storageError({ toolUseId: id, reason, isCut: shortened !== undefined }))
      if (!shortened) continue
      drafts.push(shortened)
      cut.push(id)
    }
  }
  return { drafts, failures, offloaded: stored, cut }
}

/** False for a second result of the same call: it is not sent, so the layer ignores it. */
function isFirstForCall({ tool_use_id: id }: ToolResult, { views }: LayerContext): boolean {
  const shown = parseAddress(views.context.resultAddress(id) ?? "")
  const newest = parseAddress(views.archive.results.get(id) ?? "")
  return shown !== undefined && shown.uuid === newest?.uuid
}

/** Characters of earlier results in the same round. Later results do not count, even if the layer runs late. */
function charactersBefore(together: readonly ToolResult[], { views }: LayerContext): number {
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

async function emptyMarker({ tool_use_id }: ToolResult, context: LayerContext): Promise<DecisionDraft> {
  return {
    type: "strata",
    subtype: "tool-result-empty",
    toolUseId: tool_use_id,
    tool: await findToolName(tool_use_id, context),
  }
}

async function offload(result: ToolResult, context: LayerContext): Promise<DecisionDraft> {
  const { journal, flags } = context
  const { tool_use_id: toolUseId } = result
  if (!isSafeId(toolUseId)) throw new Error("its id cannot be the name of a file")
  const full = fullResultFile(result)
  const media = []
  for (const { name, data, mediaType } of mediaFiles(result)) {
    const { path, bytes } = await journal.writeBlob(name, data)
    media.push({ ...(path === undefined ? {} : { path }), mediaType, bytes })
  }
  const { path, bytes } = await journal.writeBlob(full.name, full.data)
  const decision = {
    type: "strata",
    subtype: PERSISTED,
    toolUseId,
    ...(path === undefined ? recalledBy(context) : { path }),
    bytes,
    ...previewOf(previewText(result), flags.figures["tool-result-preview"]),
    ...(media.length > 0 ? { media } : {}),
  } as const
  return { ...decision, effect: effectOf(result, decision, context) }
}

/** Without a file, the recall tool returns the result, if the model has that tool. */
const recalledBy = ({ views }: LayerContext): { readonly recall?: string } =>
  views.context.toolNames.includes(RECALL_TOOL) ? { recall: RECALL_TOOL } : {}

/** Returns `undefined` if the result stays complete: its tool has no short size, it is short enough, or it contains more than text. */
function cutResult(
  result: ToolResult,
  { max, why }: { readonly max: number | undefined; readonly why: string },
): DecisionDraft | undefined {
  const text = previewText(result)
  if (max === undefined || text.length <= max || !resultBlocks(result).every(isText)) return undefined
  // half from the beginning, half from the end: errors and totals are at the end
  const half = Math.floor(max / 2)
  const lengths = { head: cutBefore(text, half), tail: text.length - cutBefore(text, text.length - half) }
  const results = [{ toolUseId: result.tool_use_id, ...lengths, why: why.slice(0, MAX_REASON).toWellFormed() }]
  return { type: "strata", subtype: "tool-results-shortened", results }
}

/** Tokens that offloading saves. The result was never sent, so nothing has to be written to the cache again. */
function effectOf(result: ToolResult, decision: DecisionOf<typeof PERSISTED>, { views }: LayerContext): DecisionEffect {
  const { context, estimator } = views
  const shown = renderPersisted(result, decision, context.resultAddress(result.tool_use_id) ?? "")
  return { saves: Math.max(0, Math.round(estimator.block(result) - estimator.block(shown))), rewrites: 0 }
}

interface StorageFailure {
  readonly toolUseId: string
  readonly reason: string
  readonly isCut: boolean
}

/** The error for a result that could not be stored. The journal has the complete result. */
function storageError({ toolUseId, reason, isCut }: StorageFailure): StrataError {
  const kept = isCut
    ? "Its beginning and its end stay in the context. The journal has the complete result."
    : "It stays in the context completely."
  return new StrataError(
    `The large result of the call ${JSON.stringify(toolUseId)} could not be offloaded: ${reason}. ${kept}`,
    { code: "result-not-stored" },
  )
}

/**
 * Number of characters that count against limits. Images do not count: their size in the context does not depend on the length of their
 * encoding, and the media limits apply to them.
 */
export function charactersOf(result: ToolResult): number {
  if (typeof result.content === "string") return result.content.length
  return resultBlocks(result).reduce((sum, block) => sum + blockCharacters(block), 0)
}

function blockCharacters(block: Block): number {
  if (isText(block)) return block.text.length
  if (!isMedia(block)) return JSON.stringify(block).length
  return block.source.type === "text" ? block.source.data.length : 0
}

function isEmptyResult(result: ToolResult): boolean {
  return resultBlocks(result).every((block) => isText(block) && block.text.trim() === "")
}

interface StoredFile {
  readonly name: string
  readonly data: string | Uint8Array
}

/** The complete result: a text as it is, a list of blocks as JSON. */
function fullResultFile({ tool_use_id: id, content = "" }: ToolResult): StoredFile {
  return typeof content === "string"
    ? { name: `${id}.txt`, data: content }
    : { name: `${id}.json`, data: JSON.stringify(content) }
}

/** The images and documents of a result, each in its own format. */
function mediaFiles(result: ToolResult): readonly (StoredFile & { readonly mediaType: string })[] {
  return resultBlocks(result)
    .filter(isMedia)
    .flatMap(({ source }: Media, at) => {
      if (source.type !== "base64") return []
      const name = `${result.tool_use_id}-${at + 1}.${extensionOf(source.media_type)}`
      return [{ name, data: Buffer.from(source.data, "base64"), mediaType: source.media_type }]
    })
}

const extensionOf = (mediaType: string) => mediaType.replace(/^.*\//, "").replace(/[^a-z0-9]/gi, "") || "bin"

/**
 * Decides which results of a round are offloaded: those over their tool's own limit, then, while the round is over its budget, the largest
 * of the others. Pure, and run once for each result, when it arrives.
 */

export interface ArrivedResult {
  readonly toolUseId: string
  readonly characters: number
  /** Number of characters that the tool may return. */
  readonly limit: number
  /** Whether the tool limits its results itself. The round's budget offloads such results last. */
  readonly limitsItself: boolean
  /** Whether the result contains text of the user, which stays in view. */
  readonly hasUserText?: boolean
}

interface RoundInput {
  readonly results: readonly ArrivedResult[]
  /** Characters of earlier results in the same round, about which the layer has already decided. */
  readonly before: number
  readonly budget: number
  /** Maximum number of characters that an offloaded result takes. A smaller result stays. */
  readonly previewSize: number
}

type Placement = "stays" | "over its limit" | "over the budget"

export function planRound({ results, before, budget, previewSize }: RoundInput): ReadonlyMap<string, Placement> {
  const shrinks = ({ characters, hasUserText }: ArrivedResult) => characters > previewSize && !hasUserText
  const plan = new Map<string, Placement>()
  let total = before
  for (const result of results) {
    const isOver = result.characters > result.limit && shrinks(result)
    plan.set(result.toolUseId, isOver ? "over its limit" : "stays")
    total += isOver ? previewSize : result.characters
  }
  const candidates = results.filter((result) => plan.get(result.toolUseId) === "stays" && shrinks(result))
  for (const { toolUseId, characters } of candidates.toSorted(largestFirst)) {
    if (total <= budget) break
    plan.set(toolUseId, "over the budget")
    total -= characters - previewSize
  }
  return plan
}

function largestFirst(a: ArrivedResult, b: ArrivedResult): number {
  return Number(a.limitsItself) - Number(b.limitsItself) || b.characters - a.characters
}

/**
 * Pruning: clears results that later work has made obsolete, and removes the middle of very long ones. Obsolete are reads of files that
 * were changed or read again, calls that failed and then succeeded, and results whose text a later one repeats. This is derived from calls
 * and results alone, without a model. Text of the user, results that load a tool, and the newest results are never cut.
 */
import type { OvertakenBy, ShortenedResult } from "../../journal/entries.ts"
import { findToolReferences, isToolResult, type ToolResult } from "../../messages/blocks.ts"
import { containsUserText, findUserTextInResults } from "../../messages/message-identity.ts"
import { contentOf, type Message, resultState, sentBlocks } from "../../messages/messages.ts"
import { isReplaced, previewText } from "../../views/context/render-decisions.ts"
import { commandLine, findExitCode } from "../../views/record/artifacts.ts"
import { callEffects, filePathOfCall, isShellTool } from "../../views/record/file-effects.ts"
import { type FinishedCall, followCalls, type OpenCall } from "../../views/record/open-work.ts"
import { shortenResult } from "../4-compaction/cut.ts"
import type { LayerContext } from "../layer.ts"
import { lastTurn } from "../layer.ts"

/** Whether a later result that is still in view repeats the content of this one. */
export const isRepeatedLater = (by: OvertakenBy): boolean => by === "read-again" || by === "repeated"

/** A result to cut: cleared because of later work, or shortened to its beginning and its end. */
export interface PrunedResult {
  readonly toolUseId: string
  /** Address of the result's block. */
  readonly address: string
  readonly result: ToolResult
  readonly cut: { readonly by: OvertakenBy } | ShortenedResult
}

interface PruneInput {
  readonly messages: readonly Message[]
  /** Base of relative paths. */
  readonly cwd?: string | undefined
  /** Index of the first message that stays unchanged. */
  readonly until: number
}

const MIN_CHARACTERS = 400 // of a result: a stub in place of a shorter one saves next to nothing
const LONG_RESULT = 8_000 // characters that stay of a very long one: about 2,000 tokens

interface FoundCall extends FinishedCall {
  readonly at: number
  readonly message: Message
  readonly address: string
  readonly result: ToolResult
  readonly text: string
  readonly file: string | undefined
  /** Files that the call changed. */
  readonly changes: readonly string[]
}

/** The results to cut, oldest first. */
export function prunedResults({ messages, cwd, until }: PruneInput): readonly PrunedResult[] {
  const calls = callsIn(messages, cwd)
  const overtaken = overtakenIn(calls)
  return calls.flatMap((call) => {
    const { id: toolUseId, at, address, result, text } = call
    if (at >= until || text.length < MIN_CHARACTERS || isReplaced(text) || mustStay(call)) return []
    const by = overtaken.get(call)
    const cut = by ? { by } : shortenResult(result, LONG_RESULT)
    return cut ? [{ toolUseId, address, result, cut }] : []
  })
}

/** The results to prune in a conversation as the model sees it. */
export function prunedIn({ views, flags }: Pick<LayerContext, "views" | "flags">): readonly PrunedResult[] {
  const messages = views.context.storedMessages()
  const tokensOf = (message: Message) => views.estimator.blocks(sentBlocks(message))
  const until = newestFrom(messages, { keep: flags.figures["tail-tokens"], tokensOf })
  return prunedResults({ messages, cwd: views.context.session?.cwd, until })
}

/** By call id: the later work that made a result obsolete. */
export const overtakenBy = (pruned: readonly PrunedResult[]): ReadonlyMap<string, OvertakenBy> =>
  new Map(pruned.flatMap(({ toolUseId, cut }) => ("by" in cut ? [[toolUseId, cut.by] as const] : [])))

/** Text of the user and results that load a tool stay in view. */
const mustStay = ({ message, result, id, tool }: FoundCall): boolean =>
  containsUserText(message, result) ||
  findUserTextInResults([result], new Map([[id, tool]])).length > 0 ||
  findToolReferences(result).length > 0

function callsIn(messages: readonly Message[], cwd: string | undefined): readonly FoundCall[] {
  const open = new Map<string, OpenCall>()
  let directory = cwd
  return messages.flatMap((message, at) =>
    followCalls(open, message).flatMap((call): readonly FoundCall[] => {
      const exitCode = isShellTool(call.tool) ? findExitCode(call.output) : undefined
      const ended = { ...call, failed: call.failed || (exitCode ?? 0) !== 0 }
      const done = callEffects(ended, { cwd, directory, ran: exitCode !== undefined })
      directory = done.directory ?? directory
      const blocks = message.type === "user" ? contentOf(message) : []
      const blockIndex = blocks.findIndex((block) => isToolResult(block) && block.tool_use_id === call.id)
      const result = blocks[blockIndex]
      if (!result || !isToolResult(result)) return []
      const read = isShellTool(call.tool) ? undefined : done.effects.find(({ what }) => what === "read")
      const changes = done.effects.filter(({ what }) => what !== "read" && what !== "touched").map(({ path }) => path)
      const found = { at, message, address: `${message.uuid}.${blockIndex}`, result, text: previewText(result) }
      return [{ ...ended, ...found, file: read?.path, changes }]
    }),
  )
}

/** Later reads of a file that are in view and after which the file did not change. */
interface LaterReads {
  readonly parts: Set<string>
  readonly lines: Set<string>
}

/** The last later event by file. */
type LaterFileUse = Map<string, "changed" | LaterReads>

/** Scans from the newest call to the oldest, because later work decides. */
function overtakenIn(calls: readonly FoundCall[]): ReadonlyMap<FoundCall, OvertakenBy> {
  const found = new Map<FoundCall, OvertakenBy>()
  const files: LaterFileUse = new Map()
  const succeeded = new Set<string>()
  const texts = new Set<string>()
  for (const call of calls.toReversed()) {
    const by =
      overtakenByFile(call, files) ?? (isFailure(call) && succeeded.has(targetOf(call)) ? "succeeded" : undefined)
    const text = JSON.stringify([call.failed, call.result.content ?? ""])
    if (by) found.set(call, by)
    else if (texts.has(text)) found.set(call, "repeated")
    else if (!isReplaced(call.text)) texts.add(text)
    for (const path of call.changes) files.set(path, "changed")
    if (!call.failed) succeeded.add(targetOf(call))
  }
  return found
}

/** Why a read is obsolete: its file changed, or a later read shows the same part or the same lines. */
function overtakenByFile(call: FoundCall, files: LaterFileUse): OvertakenBy | undefined {
  if (call.file === undefined) return undefined
  const later = files.get(call.file) ?? { parts: new Set(), lines: new Set() }
  if (later === "changed") return "changed"
  const part = partOf(call)
  const lines = call.text.split("\n")
  if (later.parts.has(part) || lines.every((line) => later.lines.has(line))) return "read-again"
  if (isReplaced(call.text)) return undefined
  later.parts.add(part)
  for (const line of lines) later.lines.add(line)
  files.set(call.file, later)
  return undefined
}

const PART_FIELDS = ["offset", "limit", "view_range", "start_line", "end_line", "pages"] as const

const partOf = ({ input }: FoundCall): string => JSON.stringify(PART_FIELDS.map((field) => input[field] ?? null))

/** Whether a call failed by itself. A call that the user denied or stopped is not a failure. */
const isFailure = ({ failed, result }: FoundCall): boolean => {
  const state = resultState(result)
  return failed && state !== "denied" && state !== "interrupted"
}

/** The target of a call: its file, its command, or its complete input. */
const targetOf = ({ tool, input }: FoundCall): string =>
  JSON.stringify([tool, filePathOfCall({ tool, input }) ?? (isShellTool(tool) ? commandLine(input).trim() : input)])

const NEWEST_RESULTS = 3 // they stay complete, whatever they take: the model is working with them

interface NewestInput {
  /** Tokens of the newest messages that stay unchanged. */
  readonly keep: number
  readonly tokensOf: (message: Message) => number
}

/**
 * Index of the first of the newest messages: those that no response has followed, and before them as many as fit, including the newest
 * results.
 */
export function newestFrom(messages: readonly Message[], { keep, tokensOf }: NewestInput): number {
  let from = lastTurn(messages).start
  let tokens = 0
  let results = 0
  while (from > 0) {
    const message = messages[from - 1]!
    tokens += tokensOf(message)
    if (tokens > keep && results >= NEWEST_RESULTS) break
    if (message.type === "user") results += contentOf(message).filter(isToolResult).length
    from--
  }
  return from
}

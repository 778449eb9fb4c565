/**
 * The server's context management: what a request may ask the server to clear from its own copy of the conversation, and how a response
 * reports what it cleared. What to ask for is decided elsewhere.
 */
import type { ModelRequest, RequestExtras } from "../messages/request.ts"
import type { ModelAccepts } from "../tokens/models.ts"

export const CLEAR_TOOL_USES = "clear_tool_uses_20250919"
export const CLEAR_THINKING = "clear_thinking_20251015"
const BETA = "context-management-2025-06-27"
/** For requests that ask for a signed summary, and for all that carry one. */
export const SIGNED_SUMMARIES = "compact-2026-09-04"

/** How many of the newest calls the server keeps where a request does not say it. */
export const CALLS_KEPT_BY_DEFAULT = 3

export interface ToolUsesToClear {
  /** Input tokens at which the server clears. */
  readonly trigger: number
  /** Input tokens that it must clear, or it clears nothing. */
  readonly atLeast: number
  /** How many of the newest calls keep their results. Default: `CALLS_KEPT_BY_DEFAULT`. */
  readonly keepCalls?: number | undefined
  /** Tools whose results stay. */
  readonly except: readonly string[]
  /** Tools whose inputs are cleared as well. */
  readonly withInputs: readonly string[]
}

export function clearToolUses({ trigger, atLeast, keepCalls, except, withInputs }: ToolUsesToClear): object {
  return {
    type: CLEAR_TOOL_USES,
    trigger: { type: "input_tokens", value: trigger },
    ...(keepCalls === undefined ? {} : { keep: { type: "tool_uses", value: keepCalls } }),
    clear_at_least: { type: "input_tokens", value: atLeast },
    ...(except.length > 0 ? { exclude_tools: except } : {}),
    ...(withInputs.length > 0 ? { clear_tool_inputs: withInputs } : {}),
  }
}

/** `keepTurns`: how many of the newest turns keep their thinking. */
export function clearThinking(keepTurns: number | "all"): object {
  return { type: CLEAR_THINKING, keep: keepTurns === "all" ? "all" : { type: "thinking_turns", value: keepTurns } }
}

/** What a request carries to ask for these edits. */
export function contextManagement(edits: readonly object[]): RequestExtras | undefined {
  return edits.length > 0 ? { context_management: { edits }, betas: [BETA] } : undefined
}

interface ClearingEdit {
  readonly type?: string
  readonly keep?: string | { readonly type?: string; readonly value?: number }
}

const editsIn = (request: object): readonly ClearingEdit[] =>
  ((request as RequestExtras).context_management?.edits ?? []) as readonly ClearingEdit[]

/** What a fork has added to its parent's messages. */
export interface Added {
  readonly calls: number
  /** Answers with thinking. */
  readonly thoughts: number
}

/**
 * The same request, with as much more to keep as was added. The server counts from the end, so it would otherwise clear more of what came
 * before, and the cache would break there.
 */
export function keepingAdded<T extends object>(request: T, { calls, thoughts }: Added): T {
  const edits = editsIn(request)
  if (edits.length === 0 || calls + thoughts === 0) return request
  const raised = edits.map((edit) => {
    const { type, keep } = edit
    if (type === CLEAR_TOOL_USES)
      return { ...edit, keep: { type: "tool_uses", value: (countIn(keep) ?? CALLS_KEPT_BY_DEFAULT) + calls } }
    const turns = type === CLEAR_THINKING ? countIn(keep) : undefined // all of it, if there is no number
    return turns === undefined ? edit : { ...edit, ...clearThinking(turns + thoughts) }
  })
  return { ...request, context_management: { edits: raised } }
}

const countIn = (keep: ClearingEdit["keep"]): number | undefined => (typeof keep === "object" ? keep.value : undefined)

/** Whether the server reports that it cleared calls. */
export const clearedCalls = (applied: readonly unknown[]): boolean => clearingsIn(applied).length > 0

/** How many results the server cleared. */
export const clearedByServer = (applied: readonly unknown[]): number =>
  clearingsIn(applied).reduce((sum, { cleared_tool_uses: count }) => sum + (typeof count === "number" ? count : 0), 0)

interface AppliedEdit {
  readonly type?: unknown
  readonly cleared_tool_uses?: unknown
}

const clearingsIn = (applied: readonly unknown[]): readonly AppliedEdit[] =>
  applied.map((edit) => (edit ?? {}) as AppliedEdit).filter(({ type }) => type === CLEAR_TOOL_USES)

/** How many of the newest calls the server keeps by this request. */
export function callsKeptBy(request: object): number {
  const edit = editsIn(request).find(({ type }) => type === CLEAR_TOOL_USES)
  return countIn(edit?.keep) ?? CALLS_KEPT_BY_DEFAULT
}

// Newer models return thinking without its text unless a request asks for a summary of it. The text costs the same either way. Without it a
// journal holds empty thinking: no one can read or search it, and no summary can be checked against it.

type Thinking = ModelRequest["thinking"]

/** What a request should say about thinking, where the model leaves the text out and the request leaves it open. Switches no thinking on. */
export function summarizedThinking(asked: Thinking, accepts: ModelAccepts): Thinking {
  if (!accepts.omitsThinking) return asked
  if (!asked) return accepts.thinksUnasked ? { type: "adaptive", display: "summarized" } : asked
  const isOpen = (asked.type === "adaptive" || asked.type === "enabled") && !asked.display
  return isOpen ? { ...asked, display: "summarized" } : asked
}

/**
 * The server's context management: what a request may ask the server to clear from its own copy of the conversation, and how a response
 * reports what it cleared. What to ask for is decided elsewhere.
 */
import type { RequestExtras } from "../messages/request.ts"

const CLEAR_TOOL_USES = "clear_tool_uses_20250919"
const CLEAR_THINKING = "clear_thinking_20251015"
const BETA = "context-management-2025-06-27"

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

/** Whether the server reports that it cleared calls. */
export const clearedCalls = (applied: readonly unknown[]): boolean =>
  applied.some((edit) => (edit as { type?: unknown } | null)?.type === CLEAR_TOOL_USES)

/** How many of the newest calls the server keeps by this request. */
export function callsKeptBy(request: object): number {
  const edits = ((request as RequestExtras).context_management?.edits ?? []) as {
    type?: string
    keep?: { value?: number }
  }[]
  return edits.find(({ type }) => type === CLEAR_TOOL_USES)?.keep?.value ?? CALLS_KEPT_BY_DEFAULT
}

/** Context editing: clears old thinking and tool results from the prompt. The client's copy stays unchanged. */
import type { ModelFacts } from "@strata/core/tokens"
import { isThinking, mapBlocks, type Turn } from "../conversation.ts"
import type { AppliedEdit, Block, Edit } from "../wire.ts"

type ClearToolUses = Extract<Edit, { type: "clear_tool_uses_20250919" }>
type ClearThinking = Extract<Edit, { type: "clear_thinking_20251015" }>

const DEFAULT_TRIGGER = { type: "input_tokens", value: 100_000 } as const
const DEFAULT_TOOL_USES_KEPT = 3
const DEFAULT_THINKING_TURNS_KEPT = 1 // on models that drop earlier thinking anyway; the others keep all of it
export const CLEARED_RESULT = "[tool result cleared by context management]" // the API's own wording is not documented

export interface EditInput {
  readonly edits: readonly Edit[]
  readonly turns: readonly Turn[]
  readonly model: ModelFacts
  /** Tokens in the prompt with these turns. */
  readonly countPrompt: (turns: readonly Turn[]) => number
}

export interface EditedTurns {
  readonly turns: readonly Turn[]
  readonly applied: readonly AppliedEdit[]
}

/** Applies the clearing edits in order. Compaction is handled elsewhere. */
export function applyEdits({ edits, turns, ...tools }: EditInput): EditedTurns {
  return edits.reduce<EditedTurns>(
    (before, edit) => {
      if (edit.type === "compact_20260112") return before
      const after =
        edit.type === "clear_thinking_20251015"
          ? clearThinking(edit, before.turns, tools)
          : clearToolUses(edit, before.turns, tools)
      return after ? { turns: after.turns, applied: [...before.applied, after.applied] } : before
    },
    { turns, applied: [] },
  )
}

type Tools = Pick<EditInput, "model" | "countPrompt">
type ClearingResult = { readonly turns: readonly Turn[]; readonly applied: AppliedEdit } | undefined

function clearThinking({ keep }: ClearThinking, turns: readonly Turn[], { model, countPrompt }: Tools): ClearingResult {
  const kept = thinkingTurnsKept(keep, model)
  const thoughtful = turns.filter(({ blocks }) => blocks.some(({ block }) => isThinking(block)))
  const clearing = new Set(thoughtful.slice(0, Math.max(0, thoughtful.length - kept)))
  if (clearing.size === 0) return undefined
  const after = turns
    .map((turn) =>
      clearing.has(turn) ? { ...turn, blocks: turn.blocks.filter(({ block }) => !isThinking(block)) } : turn,
    )
    .filter(({ blocks }) => blocks.length > 0)
  return {
    turns: after,
    applied: {
      type: "clear_thinking_20251015",
      cleared_thinking_turns: clearing.size,
      cleared_input_tokens: countPrompt(turns) - countPrompt(after),
    },
  }
}

function thinkingTurnsKept(keep: ClearThinking["keep"], { accepts }: ModelFacts): number {
  if (keep === undefined) return accepts.earlierThinking ? Number.POSITIVE_INFINITY : DEFAULT_THINKING_TURNS_KEPT
  return typeof keep === "object" && keep.type === "thinking_turns" ? keep.value : Number.POSITIVE_INFINITY
}

function clearToolUses(edit: ClearToolUses, turns: readonly Turn[], { countPrompt }: Tools): ClearingResult {
  const uses = turns.flatMap(({ blocks }) => blocks.map(({ block }) => block)).filter(({ type }) => type === "tool_use")
  const trigger = edit.trigger ?? DEFAULT_TRIGGER
  const before = countPrompt(turns)
  const reached = trigger.type === "input_tokens" ? before > trigger.value : uses.length > trigger.value
  if (!reached) return undefined

  const excluded = new Set(edit.exclude_tools ?? [])
  const kept = edit.keep?.value ?? DEFAULT_TOOL_USES_KEPT
  const older = uses.slice(0, Math.max(0, uses.length - kept)).filter(({ name }) => !excluded.has(name ?? ""))
  const stillFull = fullResults(turns)
  const clearing = new Map(
    older.filter(({ id }) => stillFull.has(id ?? "")).map((use) => [use.id ?? "", use.name ?? ""]),
  )
  if (clearing.size === 0) return undefined

  const after = mapBlocks(turns, ({ block }) => {
    if (block.type === "tool_result" && clearing.has(block.tool_use_id ?? ""))
      return { ...block, content: CLEARED_RESULT }
    const clearsInput = block.type === "tool_use" && clearing.has(block.id ?? "") && inputIsCleared(edit, block)
    return clearsInput ? { ...block, input: {} } : block
  })
  const cleared = before - countPrompt(after)
  if (cleared < (edit.clear_at_least?.value ?? 0)) return undefined
  return {
    turns: after,
    applied: { type: "clear_tool_uses_20250919", cleared_tool_uses: clearing.size, cleared_input_tokens: cleared },
  }
}

/** Ids of the results with something to clear. */
const fullResults = (turns: readonly Turn[]) =>
  new Set(
    turns.flatMap(({ blocks }) =>
      blocks.flatMap(({ block }) =>
        block.type === "tool_result" && block.content !== CLEARED_RESULT ? [block.tool_use_id ?? ""] : [],
      ),
    ),
  )

const inputIsCleared = ({ clear_tool_inputs: inputs }: ClearToolUses, { name = "" }: Block) =>
  Array.isArray(inputs) ? inputs.includes(name) : inputs === true

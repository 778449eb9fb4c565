/**
 * Bound thinking: a thinking block is valid only after the exact prompt it was written for. The simulator signs each block together with
 * its prompt, and compares when the block comes back.
 */
import type { ModelFacts } from "@strata/core/tokens"
import { BETA, type Dialect } from "../api-dialect.ts"
import { invalidRequest } from "../api-error.ts"
import { mapBlocks, type PlacedBlock, pathOf, type Turn } from "../conversation.ts"
import { digest, readSignature, sign } from "../signature.ts"
import type { InputTransformation, MessagesBody } from "../wire.ts"
import { EMPTY_CHAIN, extendChain, promptHead } from "./prefix-chain.ts"

/**
 * `error` refuses a mismatch. `allow-report` accepts and reports it. `off` checks no signature, which is what recorded
 * conversations with the API's own signatures need.
 */
export type BindingEnforcement = "off" | "allow-report" | "error"

/** The content before a block, to which thinking at that position is bound. */
export interface BindingState {
  readonly model: string
  readonly system: string
  readonly tools: string
  readonly chain: string
  /** The shortened signature of the previous thinking block. */
  readonly previous: string | null
}

interface ThinkingSignature extends BindingState {
  /** Digest of the thinking as it was delivered. */
  readonly thinking: string
}

export const sealThinking = (state: BindingState, thinking: string) =>
  sign("thinking", { ...state, thinking: digest(thinking) })

export const shortened = (signature: string) => digest(signature).slice(0, 16)

type BindingFinding =
  | { readonly kind: "sound" }
  | { readonly kind: "forged" }
  | { readonly kind: "changed" }
  | { readonly kind: "other model" }
  | { readonly kind: "other prefix"; readonly what: string }

export interface BindingRequest {
  readonly body: MessagesBody
  readonly model: ModelFacts
  readonly dialect: Dialect
  /** The turns that the client sent, without those that a compaction block replaced. */
  readonly turns: readonly Turn[]
  /** `undefined` selects the model's default. */
  readonly enforcement: BindingEnforcement | undefined
}

export interface BoundTurns {
  /** The turns without dropped thinking. */
  readonly turns: readonly Turn[]
  readonly transformations: readonly InputTransformation[]
  /** The state that thinking in the answer is bound to. A function, because it hashes the complete conversation. */
  readonly state: () => BindingState
}

/** Checks every thinking block. Throws if one is refused, and removes those to drop. */
export function checkThinking(request: BindingRequest): BoundTurns {
  const { turns } = request
  const thinks = turns.some(({ blocks }) => blocks.some(({ block }) => block.type === "thinking"))
  if (!thinks || request.enforcement === "off") {
    return { turns, transformations: [], state: () => walk(request, () => "keep") }
  }
  const transformations: InputTransformation[] = []
  const dropped = new Set<PlacedBlock>()
  const latestAssistant = turns.findLast(({ role }) => role === "assistant")
  let dropping = false
  const state = walk(request, (placed, turn, before) => {
    const finding = examine(placed, before)
    const verdict = judge(finding, placed, { request, isLatest: turn === latestAssistant, dropping })
    if (verdict === "allow") transformations.push(report("thinking_mismatch_allowed", placed, finding))
    if (verdict === "drop") {
      dropped.add(placed)
      dropping ||= finding.kind === "other prefix"
      transformations.push(report("thinking_dropped", placed, finding))
    }
    return verdict
  })
  const kept =
    dropped.size === 0 ? turns : mapBlocks(turns, (placed) => (dropped.has(placed) ? undefined : placed.block))
  return { turns: kept, transformations, state: () => state }
}

type Verdict = "keep" | "allow" | "drop"

/** Walks the conversation, asks for a verdict on each thinking block, and returns the state at the end. */
function walk(
  { body, model, turns }: BindingRequest,
  decide: (placed: PlacedBlock, turn: Turn, before: BindingState) => Verdict,
): BindingState {
  let state: BindingState = { model: model.id, ...promptHead(body), chain: EMPTY_CHAIN, previous: null }
  for (const turn of turns) {
    for (const placed of turn.blocks) {
      const { block } = placed
      if (block.type === "thinking" && decide(placed, turn, state) !== "drop") {
        state = { ...state, previous: shortened(block.signature ?? "") }
      }
      state = { ...state, chain: extendChain(state.chain, turn.role, block, body.tools) }
    }
  }
  return state
}

const sound: BindingFinding = { kind: "sound" }

function examine({ block }: PlacedBlock, state: BindingState): BindingFinding {
  const sealed = readSignature("thinking", block.signature ?? "") as ThinkingSignature | undefined
  if (!sealed) return { kind: "forged" }
  if (sealed.thinking !== digest(block.thinking ?? "")) return { kind: "changed" }
  if (sealed.model !== state.model) return { kind: "other model" }
  if (sealed.system !== state.system) return { kind: "other prefix", what: "`system` differs" }
  if (sealed.tools !== state.tools) return { kind: "other prefix", what: "`tools` differs" }
  if (sealed.chain !== state.chain) return { kind: "other prefix", what: "An earlier message differs" }
  // a client may remove thinking from the start, so the first remaining block may have lost its predecessors
  if (state.previous !== null && sealed.previous !== state.previous) {
    return { kind: "other prefix", what: "An earlier thinking block is missing or was put back" }
  }
  return sound
}

interface BlockContext {
  readonly request: BindingRequest
  /** Whether the block is in the latest assistant turn. */
  readonly isLatest: boolean
  /** Whether an earlier block was dropped, which drops all later ones. */
  readonly dropping: boolean
}

function judge(finding: BindingFinding, placed: PlacedBlock, { request, isLatest, dropping }: BlockContext): Verdict {
  const invalid = `${pathOf(placed)}: Invalid \`signature\` in \`thinking\` block`
  switch (finding.kind) {
    case "sound":
      return dropping ? "drop" : "keep"
    case "forged":
      throw invalidRequest(invalid)
    case "changed":
      if (!isLatest) throw invalidRequest(invalid)
      throw invalidRequest(
        `${pathOf(placed)}: \`thinking\` or \`redacted_thinking\` blocks in the latest assistant message cannot be modified. ` +
          "These blocks must remain as they were in the original response.",
      )
    case "other model":
      return "drop"
    case "other prefix":
      break
  }
  const { enforcement = request.model.accepts.boundThinking ? "error" : undefined } = request
  if (enforcement === undefined) return "keep"
  const hasBeta = request.dialect.betas.has(BETA.thinkingBinding)
  if (behaviorOf(request.body) === "drop_block" || dropping) return "drop"
  if (enforcement === "allow-report" && behaviorOf(request.body) !== "error") return hasBeta ? "allow" : "keep"
  const hint = hasBeta
    ? ""
    : ` That setting requires the \`${BETA.thinkingBinding}\` value in the \`anthropic-beta\` header.`
  throw invalidRequest(
    `${invalid}. The block is bound to a different conversation. Remove the block, or set ` +
      `\`thinking.block_binding.prefix_mismatch_behavior\` to "drop_block".${hint} ${finding.what}.`,
  )
}

function behaviorOf({ thinking }: MessagesBody) {
  return thinking && "block_binding" in thinking ? thinking.block_binding?.prefix_mismatch_behavior : undefined
}

const report = (
  type: InputTransformation["type"],
  placed: PlacedBlock,
  finding: BindingFinding,
): InputTransformation => ({
  type,
  path: pathOf(placed),
  reason: finding.kind === "other model" ? "model_binding_mismatch" : "prefix_binding_mismatch",
})

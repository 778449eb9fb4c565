/** Lists a policy's actions for a report, with the savings of each. The savings of all actions add up to those of the policy. */

import { formatNumber } from "@strata/core/base"
import type { EntryDraft } from "@strata/core/store"

export const ACTION_KINDS = ["put aside", "cleared", "cleared by the server", "thinking dropped", "compacted"] as const
export type ActionKind = (typeof ACTION_KINDS)[number]

export interface PolicyAction {
  /** The request that it was taken for. */
  readonly turn: number
  readonly kind: ActionKind
  /** Number of tool results concerned. */
  readonly results: number
  readonly tokens: number
  readonly why: string
}

const WHY: Readonly<Record<string, string>> = {
  idle: "a long pause: the cache was gone",
  size: "to make the context smaller",
  api: "the server was asked to",
  "cache-edit": "deleted inside the server's cache",
}

/** Assigns the tokens that several decisions removed together to the compaction among them, else to the first. */
export function actionsOf(
  drafts: readonly EntryDraft[],
  { turn, tokens }: { readonly turn: number; readonly tokens: number },
): readonly PolicyAction[] {
  const actions = drafts.flatMap((draft) => actionOf(draft))
  const credited = Math.max(
    0,
    actions.findIndex(({ kind }) => kind === "compacted"),
  )
  return actions.map((action, i) => ({ turn, ...action, tokens: i === credited ? tokens : 0 }))
}

function actionOf(draft: EntryDraft): Omit<PolicyAction, "turn" | "tokens">[] {
  if (draft.type !== "strata") return []
  if (draft.subtype === "tool-result-persisted")
    return [{ kind: "put aside", results: 1, why: `${formatNumber(draft.bytes)} bytes` }]
  if (draft.subtype === "tool-results-cleared")
    return [{ kind: "cleared", results: draft.toolUseIds.length, why: WHY[draft.why] ?? draft.why }]
  if (draft.subtype === "compacted")
    return [{ kind: "compacted", results: 0, why: draft.planned ?? "the context had reached its threshold" }]
  if (draft.subtype === "thinking-dropped") return [{ kind: "thinking dropped", results: 0, why: draft.why }]
  return []
}

/** Sets the tokens that each compaction removed from the requests before and after it, because the layer had only an estimate. */
export function withMeasuredCompactions(
  actions: readonly PolicyAction[],
  requests: readonly { readonly turn: number; readonly purpose: string; readonly context: number }[],
): readonly PolicyAction[] {
  const sent = requests.filter(({ purpose }) => purpose === "conversation")
  const contexts = new Map(sent.map(({ turn, context }) => [turn, context]))
  return actions.map((action) => {
    const [before, after] = [contexts.get(action.turn - 1), contexts.get(action.turn)]
    const isMeasured = action.kind === "compacted" && before !== undefined && after !== undefined
    return isMeasured ? { ...action, tokens: Math.max(0, before - after) } : action
  })
}

export interface SavingsInput {
  readonly actions: readonly PolicyAction[]
  /** For each request in order, the savings compared with the same request under the policy that does nothing. */
  readonly differences: readonly number[]
  /** The turn of the first request after each compaction. */
  readonly contexts: readonly number[]
}

/**
 * Distributes savings over actions. The savings of a request are shared by the actions since the last compaction, in proportion to their
 * size. A request that costs more is charged to the actions taken right before it.
 */
export function savingsByAction({ actions, differences, contexts }: SavingsInput): readonly number[] {
  const saved = actions.map(() => 0)
  differences.forEach((difference, at) => {
    const turn = at + 1
    const opened = contexts.findLast((first) => first <= turn) ?? 0
    const active = indexesOf(actions, (action) => action.turn >= opened && action.turn <= turn)
    const fresh = active.filter((i) => actions[i]!.turn === turn)
    const bearers = difference < 0 && fresh.length > 0 ? fresh : active
    const whole = bearers.reduce((sum, i) => sum + weightOf(actions[i]!), 0)
    for (const i of bearers) saved[i] = saved[i]! + (difference * weightOf(actions[i]!)) / whole
  })
  return saved
}

const MIN_WEIGHT = 1e-6 // an action that removed nothing gets almost no share
const weightOf = ({ tokens }: PolicyAction) => Math.max(MIN_WEIGHT, tokens)

const indexesOf = (actions: readonly PolicyAction[], fits: (action: PolicyAction) => boolean) =>
  actions.flatMap((action, i) => (fits(action) ? [i] : []))

/**
 * What a policy did, as lines of a report, and what each action saved. The savings of all actions add up to what the policy saved.
 */

import { grouped } from "@strata/core/base"
import type { EntryDraft } from "@strata/core/store"

export const ACTION_KINDS = ["put aside", "cleared", "cleared by the server", "thinking dropped", "compacted"] as const
export type ActionKind = (typeof ACTION_KINDS)[number]

export interface PolicyAction {
  /** The request it was done for. */
  readonly turn: number
  readonly kind: ActionKind
  /** Tool results it was about. */
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

/** Decisions made together removed `tokens` together. A compaction among them gets the credit, else the first. */
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
    return [{ kind: "put aside", results: 1, why: `${grouped(draft.bytes)} bytes` }]
  if (draft.subtype === "tool-results-cleared")
    return [{ kind: "cleared", results: draft.toolUseIds.length, why: WHY[draft.why] ?? draft.why }]
  if (draft.subtype === "compacted")
    return [{ kind: "compacted", results: 0, why: draft.planned ?? "the context had reached its threshold" }]
  if (draft.subtype === "thinking-dropped") return [{ kind: "thinking dropped", results: 0, why: draft.why }]
  return []
}

/** What a compaction removed, by the requests before and after it. The layer had only an estimate of what it leaves. */
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

export interface Course {
  readonly actions: readonly PolicyAction[]
  /** For each request in order: how much less it cost than the same request of the policy that does nothing. */
  readonly differences: readonly number[]
  /** The turn of the first request after each compaction. */
  readonly contexts: readonly number[]
}

/**
 * A request's saving is shared by the actions since the last compaction, in proportion to their size. A request that costs more is
 * charged to the actions taken right before it.
 */
export function savingsByAction({ actions, differences, contexts }: Course): readonly number[] {
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

const MIN_WEIGHT = 1e-6 // an action that removed nothing gets next to no share
const weightOf = ({ tokens }: PolicyAction) => Math.max(MIN_WEIGHT, tokens)

const indexesOf = (actions: readonly PolicyAction[], fits: (action: PolicyAction) => boolean) =>
  actions.flatMap((action, i) => (fits(action) ? [i] : []))

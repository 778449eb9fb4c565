/**
 * What each action saved, so that together they come to what the policy saved. The difference of a request to the same one of the
 * policy that does nothing belongs to the actions since the last compaction, by size; a request that costs more is held against
 * those that were taken right before it.
 */
import type { PolicyAction } from "./replayed-actions.ts"

export interface Course {
  readonly actions: readonly PolicyAction[]
  /** For each request, in its order: what it cost less than the same request of the other policy. */
  readonly differences: readonly number[]
  /** Turns of the first requests behind a compaction. */
  readonly contexts: readonly number[]
}

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

const LEAST_WEIGHT = 1e-6 // one that took nothing away by itself bears next to nothing
const weightOf = ({ tokens }: PolicyAction) => Math.max(LEAST_WEIGHT, tokens)

const indexesOf = (actions: readonly PolicyAction[], fits: (action: PolicyAction) => boolean) =>
  actions.flatMap((action, i) => (fits(action) ? [i] : []))

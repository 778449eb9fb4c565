/** What a policy did, in words: decisions as lines of a report. */
import type { Draft } from "../journal/entries.ts"

export type ActionKind = "put aside" | "cleared" | "cleared by the server" | "thinking dropped"

/** Something the policy did. */
export interface PolicyAction {
  /** The request before which it was done. */
  readonly turn: number
  readonly kind: ActionKind
  /** Tool results it was about. */
  readonly results: number
  readonly tokens: number
  readonly why: string
}

const WHY: Readonly<Record<string, string>> = {
  idle: "a long pause: the cache was gone",
  size: "they filled the window",
  api: "the server was asked to",
  "cache-edit": "deleted inside the server's cache",
}

/** Decisions made together took away `tokens` together: the first of them is said to have done it. */
export function actionsOf(
  drafts: readonly Draft[],
  { turn, tokens }: { readonly turn: number; readonly tokens: number },
): readonly PolicyAction[] {
  return drafts
    .flatMap((draft) => actionOf(draft))
    .map((action, i) => ({ turn, ...action, tokens: i === 0 ? tokens : 0 }))
}

function actionOf(draft: Draft): Omit<PolicyAction, "turn" | "tokens">[] {
  if (draft.type !== "strata") return []
  if (draft.subtype === "tool-result-persisted")
    return [{ kind: "put aside", results: 1, why: `${draft.bytes.toLocaleString("en-US")} bytes` }]
  if (draft.subtype === "tool-results-cleared")
    return [{ kind: "cleared", results: draft.toolUseIds.length, why: WHY[draft.why] ?? draft.why }]
  if (draft.subtype === "thinking-dropped") return [{ kind: "thinking dropped", results: 0, why: draft.why }]
  return []
}

/**
 * A limit that a server has shown by a refusal: how much one model at one address takes. It is smaller than what was believed: a local model,
 * a gateway, a missing beta. What the newest refusal says counts.
 */
import { grouped } from "../base/grouped.ts"

/** A limit that a server's refusal showed. */
export interface LearntLimit {
  /** As it was named. */
  readonly model: string
  /** Where its requests go. */
  readonly address: string
  readonly tokens: number
  /** Input and output together must fit. */
  readonly countsOutput?: boolean
  /** The refusal named no limit. This is what fitted before, and it holds for this conversation only. */
  readonly isAssumed?: boolean
}

export const limitKey = ({ model, address }: Pick<LearntLimit, "model" | "address">): string => `${model} ${address}`

/** What a refusal says about sizes. */
export interface RefusedSizes {
  readonly tokens?: number | undefined
  readonly limit?: number | undefined
  readonly gap?: number | undefined
  readonly countsOutput?: boolean | undefined
  /** It is about bytes, so it says nothing about tokens. */
  readonly isBytes?: boolean | undefined
}

export interface RefusedRequest {
  /** Its size by our own estimate. */
  readonly estimate: number
  /** The largest size that the server has counted before, as far as it is known. */
  readonly accepted: number
  /** What was believed until now. */
  readonly believed: { readonly window: number; readonly countsOutput: boolean }
}

const LEAST = 1_000 // tokens: a smaller figure is no window
const ASSUMED_SHARE = 0.5 // of what was refused, where nothing else is known

/** What the refusal of a request teaches; `undefined` where it says nothing new. */
export function limitIn(
  { tokens, limit, gap, countsOutput = false, isBytes }: RefusedSizes,
  { estimate, accepted, believed }: RefusedRequest,
): Pick<LearntLimit, "tokens" | "countsOutput" | "isAssumed"> | undefined {
  if (isBytes) return undefined
  const named = limit ?? (gap === undefined ? undefined : (tokens ?? estimate) - gap)
  const learnt = Math.floor(named ?? Math.max(accepted, estimate * ASSUMED_SHARE))
  if (!(learnt >= LEAST)) return undefined
  const isSmaller = learnt < believed.window
  const isStricter = countsOutput && !believed.countsOutput && limit !== undefined
  if (!isSmaller && !isStricter) return undefined
  return {
    tokens: Math.min(learnt, believed.window),
    ...(countsOutput || believed.countsOutput ? { countsOutput: true } : {}),
    ...(named === undefined ? { isAssumed: true } : {}),
  }
}

/** For the person, once it is learnt. */
export const learntSentence = ({ model, tokens, isAssumed }: LearntLimit, believed: number): string =>
  `${model} takes ${isAssumed ? "fewer" : `at most ${grouped(tokens)}`} tokens here, not ${grouped(believed)}: the server has refused a request. Strata keeps to ${isAssumed ? `${grouped(tokens)}, which fitted` : "that"} from now on.`

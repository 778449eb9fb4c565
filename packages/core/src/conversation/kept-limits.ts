/**
 * The limits that servers have shown, in one small text of the store, so that the next conversation begins with them. A text that cannot be
 * read counts as empty: a limit is learnt again by one refusal.
 */
import { changedText } from "../journal/changed-text.ts"
import type { MemoryFiles } from "../journal/memory-files.ts"
import { type LearntLimit, limitKey } from "../tokens/learnt-limit.ts"
import type { KeptLimit } from "../views/record/limits.ts"

export const LIMITS = "limits.json"
const VERSION = 1
const MOST = 200 // limits: the oldest go first

export interface KeptLimits {
  readonly limits: readonly KeptLimit[]
  /** What was learnt before this time no longer counts, also in journals. ISO 8601. */
  readonly forgotten?: string
}

/** Those that all projects of a store share. */
export type SharedFiles = Pick<MemoryFiles, "read" | "install">

export const readLimits = async (files: SharedFiles): Promise<KeptLimits> =>
  limitsIn(await files.read(LIMITS).catch(() => undefined))

export function limitsIn(text: string | undefined): KeptLimits {
  try {
    const found = JSON.parse(text ?? "") as Partial<KeptLimits & { version: number }>
    if (found.version !== VERSION || !Array.isArray(found.limits)) return { limits: [] }
    const limits = found.limits.filter(isLimit)
    return typeof found.forgotten === "string" ? { limits, forgotten: found.forgotten } : { limits }
  } catch {
    return { limits: [] }
  }
}

export async function keepLimit(files: SharedFiles, limit: KeptLimit): Promise<void> {
  await changedText(files, LIMITS, (text) => {
    const { limits, ...rest } = limitsIn(text)
    const others = limits.filter((each) => limitKey(each) !== limitKey(limit))
    return written({ ...rest, limits: [...others, limit].slice(-MOST) })
  })
}

/** Forgets one limit, or all of them. Resolves with those that were there. */
export async function forgetLimits(
  files: SharedFiles,
  which: { readonly at: Date } | Pick<LearntLimit, "model" | "address">,
): Promise<readonly KeptLimit[]> {
  const isMeant = (limit: KeptLimit) => "at" in which || limitKey(limit) === limitKey(which)
  let forgotten: readonly KeptLimit[] = []
  await changedText(files, LIMITS, (text) => {
    const { limits, ...rest } = limitsIn(text)
    forgotten = limits.filter(isMeant)
    const left = limits.filter((limit) => !isMeant(limit))
    return written({ ...rest, limits: left, ...("at" in which ? { forgotten: which.at.toISOString() } : {}) })
  })
  return forgotten
}

const written = (content: KeptLimits): string => `${JSON.stringify({ version: VERSION, ...content }, undefined, 2)}\n`

function isLimit(value: unknown): value is KeptLimit {
  const { model, address, tokens, learnt } = (value ?? {}) as Partial<KeptLimit>
  const areTexts = [model, address, learnt].every((each) => typeof each === "string")
  return areTexts && typeof tokens === "number" && Number.isSafeInteger(tokens) && tokens > 0
}

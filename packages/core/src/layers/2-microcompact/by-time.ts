/** L2-1: after a long pause the server's cache is gone, so clearing costs nothing: all clearable results but the newest few. */
import type { ClearableResult } from "./survey.ts"

const MS_PER_MINUTE = 60_000

/** How long nothing was said. Without a response there was no pause. */
export function idleMinutes(lastResponse: { readonly timestamp: string } | undefined, now: Date): number {
  return lastResponse ? (now.getTime() - Date.parse(lastResponse.timestamp)) / MS_PER_MINUTE : 0
}

/** Ids to clear, oldest first. A result that is smaller than the marker in its place stays. */
export function planByTime(results: readonly ClearableResult[], keep: number): readonly string[] {
  const old = results.slice(0, Math.max(0, results.length - Math.max(1, keep)))
  return old.filter(({ saving }) => saving > 0).map(({ toolUseId }) => toolUseId)
}

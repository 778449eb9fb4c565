/** Which messages a text leads to: by a handle of their own, or because they are within a range of handles that is left out. */
import { handleOf } from "@strata/core"
import type { Remark } from "./said.ts"

const RANGE = /left out: ([0-9a-f]{10})(?: to ([0-9a-f]{10}))?/g

/** `messages`: those of the user, oldest first. */
export function handlesIn(text: string, messages: readonly Remark[]): (remark: Remark) => boolean {
  const order = new Map(messages.map(({ uuid }, at) => [handleOf(uuid), at]))
  const ranges = [...text.matchAll(RANGE)].map(
    ([, first, last = first]) => [order.get(first!), order.get(last!)] as const,
  )
  return ({ uuid }) => {
    const handle = handleOf(uuid)
    const at = order.get(handle)
    const isWithin = ([first = Number.POSITIVE_INFINITY, last = -1]: (typeof ranges)[number]) =>
      at !== undefined && first <= at && at <= last
    return text.includes(handle) || ranges.some(isWithin)
  }
}

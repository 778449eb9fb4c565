/** The names of the tools that are not loaded: one line for each server, bounded however many and however long they are. */
import type { Attachment, DeferredGroup } from "../../messages/attachments.ts"

const LINE_CHARACTERS = 4_000 // about 1,000 tokens: 200 names of usual length
const ALL_CHARACTERS = 16_000
const SERVER = /^mcp__(?:(?!__).)+__(?=.)/

type DeferredTools = Extract<Attachment, { type: "deferred_tools" }>

/** `tokens`: what declaring them would take. */
export function deferredListing(names: readonly string[], tokens: number): DeferredTools {
  const groups = new Map<string, string[]>()
  for (const name of names) {
    const prefix = SERVER.exec(name)?.[0] ?? ""
    groups.set(prefix, [...(groups.get(prefix) ?? []), name.slice(prefix.length)])
  }
  let left = ALL_CHARACTERS
  const bounded = [...groups].map(([prefix, all]): DeferredGroup => {
    const shown = fitting(all, Math.min(LINE_CHARACTERS, left))
    left -= shown.join(", ").length
    return { prefix, names: shown, ...(shown.length < all.length ? { more: all.length - shown.length } : {}) }
  })
  return { type: "deferred_tools", groups: bounded, tokens }
}

function fitting(names: readonly string[], characters: number): readonly string[] {
  let used = 0
  const max = names.findIndex((name) => {
    used += name.length + ", ".length
    return used > characters
  })
  return max < 0 ? names : names.slice(0, max)
}

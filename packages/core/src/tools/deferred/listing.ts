/** Lists the names of tools that are not loaded: one line for each server, limited in number and length. */
import type { Attachment, DeferredGroup } from "../../messages/attachments.ts"

const LINE_CHARACTERS = 4_000 // about 1,000 tokens, or 200 typical names
const ALL_CHARACTERS = 16_000
const SERVER = /^mcp__(?:(?!__).)+__(?=.)/

type DeferredTools = Extract<Attachment, { type: "deferred_tools" }>

/** `tokens`: size of their definitions. */
export function deferredListing(names: readonly string[], tokens: number): DeferredTools {
  const groups = new Map<string, string[]>()
  for (const name of names) {
    const prefix = SERVER.exec(name)?.[0] ?? ""
    groups.set(prefix, [...(groups.get(prefix) ?? []), name.slice(prefix.length)])
  }
  let remaining = ALL_CHARACTERS
  const bounded = [...groups].map(([prefix, all]): DeferredGroup => {
    const fitted = fitNames(all, Math.min(LINE_CHARACTERS, remaining))
    remaining -= fitted.join(", ").length
    return { prefix, names: fitted, ...(fitted.length < all.length ? { more: all.length - fitted.length } : {}) }
  })
  return { type: "deferred_tools", groups: bounded, tokens }
}

function fitNames(names: readonly string[], characters: number): readonly string[] {
  let used = 0
  const max = names.findIndex((name) => {
    used += name.length + ", ".length
    return used > characters
  })
  return max < 0 ? names : names.slice(0, max)
}

/**
 * Exact names in a summary: paths, identifiers, hashes and versions. Each must occur in the source. A path may be given from another
 * directory: its parts must then occur, and its end where no other directory precedes it. Where a part of the source cannot be read, a name
 * that is not found is not refuted.
 */
import type { Steps } from "../../../base/in-slices.ts"
import type { Claim, Part } from "./claim.ts"
import type { Name } from "./names-in.ts"
import type { Source } from "./source.ts"
import { tokensOf } from "./text.ts"

export function* nameSteps(parts: readonly Part[], source: Source): Steps<readonly Claim[]> {
  const known = new Map<string, boolean>()
  const claims: Claim[] = []
  for (const part of parts) {
    for (const name of part.names) {
      const key = `${name.class} ${name.text}`
      if (!known.has(key)) {
        yield // it may be looked for in all of the source
        known.set(key, isKnown(name, source) || source.isPartlyUnreadable)
      }
      const isSupported = known.get(key)!
      claims.push({ class: name.class, text: name.text, at: part.at + name.at, isSupported, sentence: part })
    }
  }
  return claims
}

function isKnown({ class: kind, text }: Name, source: Source): boolean {
  const lower = text.toLowerCase()
  switch (kind) {
    case "hashes":
      return source.raw.includes(lower)
    case "versions":
      return source.index.has(tokensOf(text))
    case "paths":
      return lower.includes("://") ? source.raw.includes(lower.replace(/\/$/, "")) : isKnownPath(lower, source)
    default:
      return isKnownIdentifier(text, source)
  }
}

function isKnownIdentifier(text: string, { index, raw }: Source): boolean {
  if (index.has(tokensOf(text)) || raw.includes(text.toLowerCase())) return true
  return /s$/.test(text) && raw.includes(text.slice(0, -1).toLowerCase())
}

const MOST_PARTS = 30 // of a path: each is looked for in the whole source

function isKnownPath(path: string, { index, raw }: Source): boolean {
  const parts = path
    .replace(/^\.\//, "")
    .replace(/:[\d-]+$/, "")
    .split(/[\\/]/)
    .filter((part) => part !== "")
  const whole = parts.join("/")
  if (index.has(tokensOf(whole)) || occurs(whole, raw, "anywhere")) return true
  for (let from = 1; from < Math.min(parts.length, MOST_PARTS); from++) {
    const end = parts.slice(from).join("/")
    if (occurs(end, raw, "at-start") && occurs(parts.slice(0, from).join("/"), raw, "anywhere")) return true
  }
  return false
}

/** Whether a path occurs with whole parts; `at-start`: where no other directory precedes it. */
function occurs(path: string, text: string, where: "anywhere" | "at-start"): boolean {
  for (let at = text.indexOf(path); at >= 0; at = text.indexOf(path, at + 1)) {
    const before = text[at - 1] ?? " "
    const isStart =
      where === "at-start" ? !/[\w/\\-]/.test(before) || text.slice(at - 2, at) === "./" : !/[\w-]/.test(before)
    if (isStart && !/[\w-]/.test(text[at + path.length] ?? " ")) return true
  }
  return false
}

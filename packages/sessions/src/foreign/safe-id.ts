/**
 * Ids of other programs as ids of a store, and back. Letters are lower case, because some file systems know only one case: two sessions
 * never share a journal.
 */
import { StrataError } from "@strata/core"

const MAX = 180 // characters; names may have 200, and the rest is for endings

/** Lower case letters, digits and `-` stay. Any other character becomes `_` with its code: `_2f`, or `_u` with four digits. */
export function safeId(kind: string, text: string): string {
  const id = text.replace(/[^a-z0-9-]/g, (unit) => {
    const code = unit.charCodeAt(0)
    return code < 0x80 ? `_${code.toString(16).padStart(2, "0")}` : `_u${code.toString(16).padStart(4, "0")}`
  })
  if (id === "" || id.length > MAX) throw unusable(kind, text)
  return id
}

/** The text that an id was made from. */
export const textOfId = (id: string): string =>
  id.replace(/_u([0-9a-f]{4})|_([0-9a-f]{2})/g, (_, wide: string | undefined, narrow: string | undefined) =>
    String.fromCharCode(Number.parseInt(wide ?? narrow!, 16)),
  )

const unusable = (kind: string, text: string) =>
  new StrataError(
    `A ${kind} of ${text.length} characters cannot be kept: it must have at least one, and at most ${MAX} once others than a to z, 0 to 9 and "-" are spelled out. Nothing was written. Use a shorter one.`,
    { code: "unusable-id" },
  )

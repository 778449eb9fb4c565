/**
 * Converts ids of other programs to ids of a store and back. Letters are lower case, so that sessions never share a journal on file systems
 * that ignore case.
 */
import { StrataError } from "@strata/core"

const MAX = 180 // characters; names are limited to 200, and the rest is reserved for suffixes

/** Keeps lower-case letters, digits and `-`. Any other character becomes `_` with its code: `_2f`, or `_u` with four digits. */
export function safeId(kind: string, text: string): string {
  const id = text.replace(/[^a-z0-9-]/g, (unit) => {
    const code = unit.charCodeAt(0)
    return code < 0x80 ? `_${code.toString(16).padStart(2, "0")}` : `_u${code.toString(16).padStart(4, "0")}`
  })
  if (id === "" || id.length > MAX) throw invalidId(kind, text)
  return id
}

/** The original text of an id. */
export const textOfId = (id: string): string =>
  id.replace(/_u([0-9a-f]{4})|_([0-9a-f]{2})/g, (_, wide: string | undefined, narrow: string | undefined) =>
    String.fromCharCode(Number.parseInt(wide ?? narrow!, 16)),
  )

const invalidId = (kind: string, text: string) =>
  new StrataError(
    `This ${kind} of ${text.length} characters cannot be stored: it must have 1 to ${MAX} characters, and characters other than a to z, 0 to 9 and "-" count three or six times. Nothing was written. Use a shorter one.`,
    { code: "invalid-id" },
  )

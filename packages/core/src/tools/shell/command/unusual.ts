/** Parts of a line that a person should look at, found in its characters. */
import type { UnusualKind, UnusualPart } from "./facts.ts"

const MOST_PARTS = 500

const CHARACTERS: readonly { readonly kind: UnusualKind; readonly form: RegExp }[] = [
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  { kind: "control character", form: /[\x00-\x08\x0b-\x1f\x7f-\x9f]+/g },
  {
    kind: "invisible character",
    // biome-ignore lint/suspicious/noMisleadingCharacterClass: each is looked for alone
    form: /[\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff]+|[\u{e0000}-\u{e0fff}]+/gu,
  },
  {
    // letters of other scripts that look like Latin ones, and signs that look like a shell's
    kind: "look-alike character",
    form: /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\u2010-\u2015\u2018-\u201f\u2024\u2032-\u2037\u2044\u2212\u2215\u2216\u2223\u02b9-\u02bf\u{1d400}-\u{1d7ff}\uff01-\uff5e]+/gu,
  },
  { kind: "escape", form: /\\(?:x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{3}|e(?=\[|\]|P))/g },
]

export function unusualCharacters(line: string): readonly UnusualPart[] {
  const parts: UnusualPart[] = []
  for (const { kind, form } of CHARACTERS) {
    for (const match of line.matchAll(form)) {
      if (parts.length < MOST_PARTS) parts.push({ kind, start: match.index, end: match.index + match[0].length })
    }
  }
  return parts
}

/** A line with these is never taken as known: what is shown is not what runs. */
export const hidesCharacters = (parts: readonly UnusualPart[]): boolean =>
  parts.some(({ kind }) => kind === "control character" || kind === "invisible character")

/**
 * Works out what a file held before changes whose contents were not kept: from an earlier Write or Read, or by reversing edits. The changes
 * are then made again in memory. Only if they end in what is on disk is the earlier text certain.
 */
import { withEndsOf, withPlainEnds } from "../tools/files/line-endings.ts"
import { replaceText } from "../tools/files/text-replacement.ts"
import type { Change, KnownText } from "./file-changes.ts"

export interface Rebuilding {
  /** In order, none of them kept. */
  readonly changes: readonly Change[]
  /** The text before them, if results show it. */
  readonly known: KnownText | undefined
  /** The text after them. `undefined`: the file is gone. */
  readonly now: string | undefined
}

export type Rebuilt =
  /** `text` is absent where there was no file. `isIntact`: the changes end in what is there now. */
  | { readonly state: "known"; readonly text?: string; readonly isIntact: boolean }
  | { readonly state: "unknown"; readonly why: string }

export function earlierText({ changes, known, now }: Rebuilding): Rebuilt {
  const [first] = changes
  if (first?.kind === "write" && first.isNew)
    return { state: "known", isIntact: isSame(after(undefined, changes), now) }
  const unknown = changes.find(({ kind }) => kind === "unknown")
  if (unknown) return { state: "unknown", why: whyUnknown(unknown) }
  if (known) {
    const texts = known.mayEndOpen ? [known.text, known.text.replace(/\n$/, "")] : [known.text]
    const fitting = texts.find((text) => isSame(after(text, changes), now))
    const text = withEndsOf(now ?? "", fitting ?? texts[0]!)
    return { state: "known", text, isIntact: fitting !== undefined }
  }
  const reversed = now === undefined ? undefined : reverse(now, changes)
  if (reversed === undefined) return { state: "unknown", why: "the journal does not have its earlier content" }
  return { state: "known", text: reversed, isIntact: true }
}

function whyUnknown(change: Change): string {
  if (change.kind !== "unknown" || !change.isCommand) return "its earlier content was not kept"
  return `a command ${change.what} it, and its earlier content was not kept`
}

const isSame = (text: string | undefined, now: string | undefined): boolean =>
  text !== undefined && now !== undefined && withPlainEnds(text) === withPlainEnds(now)

const after = (text: string | undefined, changes: readonly Change[]): string | undefined =>
  changes.reduce<string | undefined>((known, change) => applied(known, change), text)

/** The text after a change. `undefined`: not known. */
export function applied(text: string | undefined, change: Change): string | undefined {
  if (change.kind === "write") return withEndsOf(text ?? "", change.content)
  if (change.kind !== "edit" || text === undefined) return undefined
  if (change.old === "") return change.fresh
  const replaced = replaceText(text, change)
  return replaced.state === "replaced" ? replaced.text : undefined
}

/** Takes edits back, the newest first. Each must have left its text in exactly one place. */
function reverse(now: string, changes: readonly Change[]): string | undefined {
  let text = now
  for (const change of changes.toReversed()) {
    if (change.kind !== "edit" || change.all || change.old === "" || change.fresh === "") return undefined
    const before = replaceText(text, { old: change.fresh, fresh: change.old, all: false })
    if (before.state !== "replaced" || applied(before.text, change) !== text) return undefined
    text = before.text
  }
  return text
}

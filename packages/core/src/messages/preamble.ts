/** Joins titled context texts (project instructions, memory index …) into one system reminder at the start of the conversation. */
import { asReminder } from "./attachment-texts.ts"

export interface PreambleOptions {
  /** The texts by title, in order of appearance. */
  readonly texts: Readonly<Record<string, string>>
  readonly estimate: (text: string) => number
  /** Maximum of tokens for all texts together. */
  readonly limit: number
}

/** The text for the model. Empty if there is no context. */
export function renderPreamble({ texts, estimate, limit }: PreambleOptions): string {
  const sections: string[] = []
  let remaining = limit
  for (const [title, text] of Object.entries(texts)) {
    if (text.trim() === "") continue
    const size = estimate(text)
    sections.push(`# ${title}\n${size <= remaining ? text : cutToFit(text, remaining / size)}`)
    remaining = Math.max(0, remaining - size)
  }
  if (sections.length === 0) return ""
  return asReminder(
    `Context for this conversation follows. It may or may not be relevant to the request. Do not respond to it on its own.\n\n${sections.join("\n\n")}`,
  )
}

function cutToFit(text: string, share: number): string {
  const length = Math.floor(text.length * share)
  const lineEnd = text.lastIndexOf("\n", length)
  const start = text.slice(0, lineEnd > length / 2 ? lineEnd : length).replace(/[\uD800-\uDBFF]$/, "")
  return `${start}\n[cut here: ${text.length - start.length} of ${text.length} characters are left out, because all instructions together are too long]`
}

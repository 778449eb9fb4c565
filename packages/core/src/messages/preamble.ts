/**
 * MSG-8: titled context texts (project instructions, memory index …) as one text ahead of the conversation, marked as coming
 * from the system.
 */
import { asReminder } from "./attachments.ts"

export interface PreambleOptions {
  /** Title to text, in the order in which they are to appear. */
  readonly texts: Readonly<Record<string, string>>
  readonly estimate: (text: string) => number
  /** In tokens, for all texts together. */
  readonly limit: number
}

/** The text for the model; empty where there is nothing to say. */
export function renderPreamble({ texts, estimate, limit }: PreambleOptions): string {
  const sections: string[] = []
  let left = limit
  for (const [title, text] of Object.entries(texts)) {
    if (text.trim() === "") continue
    const size = estimate(text)
    sections.push(`# ${title}\n${size <= left ? text : cutToFit(text, left / size)}`)
    left = Math.max(0, left - size)
  }
  if (sections.length === 0) return ""
  return asReminder(
    `What follows is context for this conversation. It may or may not matter for what you are asked; do not answer it by itself.\n\n${sections.join("\n\n")}`,
  )
}

function cutToFit(text: string, share: number): string {
  const length = Math.floor(text.length * share)
  const lineEnd = text.lastIndexOf("\n", length)
  const kept = text.slice(0, lineEnd > length / 2 ? lineEnd : length).replace(/[\uD800-\uDBFF]$/, "")
  return `${kept}\n[cut here: ${text.length - kept.length} of ${text.length} characters are left out, because the instructions together are too long]`
}

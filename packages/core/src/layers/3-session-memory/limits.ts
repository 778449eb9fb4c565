/** How large the notes may grow. The next prompt names each section that is too large, with its size; beyond the total it is urgent. */
import { grouped } from "../../base/grouped.ts"
import { parseNotes } from "./sections.ts"

export interface NotesLimits {
  /** Tokens of one section. */
  readonly section: number
  /** Tokens of the file. */
  readonly total: number
}

export interface SizedNotes {
  readonly total: number
  readonly sections: readonly { readonly title: string; readonly tokens: number }[]
}

export function measureNotes(text: string, estimate: (text: string) => number): SizedNotes {
  const sections = parseNotes(text).sections.map(({ title, head, body }) => ({ title, tokens: estimate(head + body) }))
  return { total: estimate(text), sections }
}

/** `undefined` where everything is within its limit. */
export function sizeReminder({ total, sections }: SizedNotes, limits: NotesLimits): string | undefined {
  const isUrgent = total > limits.total
  const tooLarge = sections.filter(({ tokens }) => tokens > limits.section).sort((a, b) => b.tokens - a.tokens)
  const lines = tooLarge.map(({ title, tokens }) => `- "${title}": about ${grouped(tokens)} tokens`)
  if (isUrgent) {
    const named =
      lines.length > 0 ? `\nThese sections are over ${grouped(limits.section)} tokens each:\n${lines.join("\n")}` : ""
    return (
      `URGENT: the notes have about ${grouped(total)} tokens, and at most ${grouped(limits.total)} can be used.\nCondense them in this update before you add anything: ` +
      `merge what belongs together and drop what no longer matters.\nKeep "Current State" and "Errors & Corrections" exact.${named}`
    )
  }
  if (lines.length === 0) return undefined
  return `Condense these sections in this update to less than ${grouped(limits.section)} tokens each, and keep what matters most:\n${lines.join("\n")}`
}

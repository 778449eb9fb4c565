/** How old a memory is and who said it, in words. The words are journaled, so no later request depends on a clock. */
import { dayOf } from "../../../base/clock.ts"
import type { Memory, Provenance } from "../../../memory/memory.ts"
import { inline } from "../../../messages/inline.ts"

const DAY = 86_400_000

export function ageOf(time: string, now: Date): string {
  const days = Math.floor((now.getTime() - Date.parse(time)) / DAY)
  return Number.isNaN(days) ? "of unknown age" : ageOfDays(Math.max(0, days))
}

export function ageOfDays(days: number): string {
  if (days === 0) return "today"
  if (days === 1) return "yesterday"
  if (days < 60) return `${days} days ago`
  return days < 730 ? `${Math.floor(days / 30)} months ago` : `${Math.floor(days / 365)} years ago`
}

/** Of a later memory that may say otherwise. */
export const doubtPhrase = ({ file, confirmed }: Pick<Memory, "file" | "confirmed">): string =>
  `a later memory may say otherwise: ${inline(file)}, ${dayOf(confirmed)}`

/** For the model. Names of files and pages outside stay out: they can be chosen to read like an instruction. */
export function sourcePhrase({ saidBy, conversation, outside, confirmed }: Provenance): string {
  if (confirmed) return "confirmed by the user"
  if (saidBy === "user") return conversation === undefined ? "written by the user" : "said by the user"
  if (saidBy === "tool") return "from a tool's output, not confirmed"
  return `noted by the agent, not confirmed${outside === undefined ? "" : ", with content from outside in view"}`
}

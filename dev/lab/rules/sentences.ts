/** Sentences in which a person tells an assistant how to work from now on, and sentences that only look like it. */
import chosen from "./chosen.json" with { type: "json" }
import heldOut from "./held-out.json" with { type: "json" }

export const LANGUAGES = ["en", "de", "fr", "es", "ru", "zh", "ja", "ko", "ar"] as const
export type Language = (typeof LANGUAGES)[number]

type LookAlike =
  | "question"
  | "task wish"
  | "quotation"
  | "reported"
  | "trying"
  | "hypothetical"
  | "past"
  | "observation"

export interface Sentences {
  readonly rules: Readonly<Record<Language, readonly string[]>>
  /** English ones are grouped by what they are. */
  readonly lookAlikes: Readonly<Record<Language, readonly string[] | Readonly<Record<LookAlike, readonly string[]>>>>
  /** What the assistant says: advice, in the same form as rules. */
  readonly advice: readonly string[]
}

export type Part = "chosen" | "held-out"

/**
 * The recogniser was chosen on the first set, so its figures come from the other one: those sentences were written before the recogniser, no
 * rule was written from them, and they are only measured.
 */
export const SENTENCES: Readonly<Record<Part, Sentences>> = { chosen, "held-out": heldOut }

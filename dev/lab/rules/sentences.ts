/** Sentences in which a user gives an assistant rules for future work, and sentences that only look like rules. */
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
  /** English look-alikes are grouped by their kind. */
  readonly lookAlikes: Readonly<Record<Language, readonly string[] | Readonly<Record<LookAlike, readonly string[]>>>>
  /** Sentences of the assistant: advice in the same form as rules. */
  readonly advice: readonly string[]
}

export type Part = "chosen" | "held-out"

/**
 * The recognizer was developed on the first set, so its results come from the held-out one. Those sentences were written before the
 * recognizer, no rule was derived from them, and they are only measured.
 */
export const SENTENCES: Readonly<Record<Part, Sentences>> = { chosen, "held-out": heldOut }

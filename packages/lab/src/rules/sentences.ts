/** Sentences in which a person tells an assistant how to work from now on, and sentences that only look like it. */

export const LANGUAGES = ["en", "de", "fr", "es", "ru", "zh", "ja", "ko", "ar"] as const
export type Language = (typeof LANGUAGES)[number]

export const LOOK_ALIKES = [
  "question",
  "task wish",
  "quotation",
  "reported",
  "trying",
  "hypothetical",
  "past",
  "observation",
] as const
export type LookAlike = (typeof LOOK_ALIKES)[number]

/** One sentence per line. */
export interface Sentences {
  readonly rules: Readonly<Record<Language, string>>
  readonly lookAlikes: Readonly<Record<"en", Readonly<Record<LookAlike, string>>>> &
    Readonly<Record<Exclude<Language, "en">, string>>
  /** What the assistant says: advice, in the same form as rules. */
  readonly advice: string
}

export const linesOf = (text: string): readonly string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")

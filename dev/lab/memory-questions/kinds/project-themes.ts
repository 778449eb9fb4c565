/** Subjects of long work with an assistant: a theme, and its aspects with the words that recur in all talk about it. */
import themes from "./project-themes.json" with { type: "json" }

export interface Aspect {
  readonly name: string
  /** Actions or tools of the aspect. */
  readonly means: readonly string[]
  /** Quantity of the aspect whose value may change later. */
  readonly measure: string
  readonly unit: string
  readonly person: string
}

interface Theme {
  readonly about: string
  readonly aspects: readonly Aspect[]
}

export const THEMES: Readonly<Record<"chosen" | "held-out", readonly Theme[]>> = themes

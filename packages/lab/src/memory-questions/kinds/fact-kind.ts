/**
 * A kind of fact that comes up in the generated dialogues, and the ways to say it and to ask for it. `{p}` is the person or the component it
 * is about, `{v}` the value. The ways differ in what they share with the question, as in real talk.
 */
export interface FactKind {
  readonly name: string
  /** For questions about the order of two events. */
  readonly topic: string
  readonly questions: readonly string[]
  /** Shares words with the question. */
  readonly said: readonly string[]
  /** The other one asks with words of the question; the reply shares none. */
  readonly asked: readonly (readonly [cue: string, reply: string])[]
  /** Says it in other words. */
  readonly otherwise: readonly string[]
  /** What the other one may say next. */
  readonly follow: readonly string[]
  /** Mentions the subject and no fact. */
  readonly passing: readonly string[]
  readonly values: readonly string[]
}

type Ways = Omit<FactKind, "name" | "values"> & { readonly values: string }

export const kind = (name: string, ways: Ways): FactKind => ({ name, ...ways, values: ways.values.split("; ") })

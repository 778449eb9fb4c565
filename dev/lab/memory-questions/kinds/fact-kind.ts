import components from "./components.json" with { type: "json" }
import everydayChosen from "./everyday-chosen.json" with { type: "json" }
import everydayHeldOut from "./everyday-held-out.json" with { type: "json" }
import projectChosen from "./project-chosen.json" with { type: "json" }
import projectHeldOut from "./project-held-out.json" with { type: "json" }

/**
 * A kind of fact in the generated dialogues, with the sentences that state it and ask for it. `{p}` is the person or the component, `{v}`
 * the value. The sentences differ in how many words they share with the question, as in real talk.
 */
export interface FactKind {
  readonly name: string
  /** Noun phrase for questions about the order of two events. */
  readonly topic: string
  readonly questions: readonly string[]
  /** Statements that share words with the question. */
  readonly statements: readonly string[]
  /** Pairs of a question and a reply: the other speaker asks with words of the question, and the reply shares none. */
  readonly asked: readonly { readonly cue: string; readonly reply: string }[]
  /** Statements in other words than the question. */
  readonly otherwise: readonly string[]
  /** Comments that the other speaker may make next. */
  readonly follow: readonly string[]
  /** Sentences that mention the subject but no fact. */
  readonly passing: readonly string[]
  readonly values: readonly string[]
}

/** A component of a software project, as statements write it and as a question names it. */
interface Component {
  readonly written: string
  readonly asked: string
}

type Part = "chosen" | "held-out"

/** Weights are chosen on the first part. The parts share no kind of fact and no component. */
export const KINDS: Readonly<Record<"everyday" | "project", Readonly<Record<Part, readonly FactKind[]>>>> = {
  everyday: { chosen: everydayChosen, "held-out": everydayHeldOut },
  project: { chosen: projectChosen, "held-out": projectHeldOut },
}

export const COMPONENTS: Readonly<Record<Part, readonly Component[]>> = components

import components from "./components.json" with { type: "json" }
import everydayChosen from "./everyday-chosen.json" with { type: "json" }
import everydayHeldOut from "./everyday-held-out.json" with { type: "json" }
import projectChosen from "./project-chosen.json" with { type: "json" }
import projectHeldOut from "./project-held-out.json" with { type: "json" }

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
  readonly statements: readonly string[]
  /** The other one asks with words of the question; the reply shares none. */
  readonly asked: readonly { readonly cue: string; readonly reply: string }[]
  /** Says it in other words. */
  readonly otherwise: readonly string[]
  /** What the other one may say next. */
  readonly follow: readonly string[]
  /** Mentions the subject and no fact. */
  readonly passing: readonly string[]
  readonly values: readonly string[]
}

/** A component of a software project, as it is written and as a question names it. */
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

/** Talk without facts, assembled from parts, so that most turns are about other subjects. */
import talk from "./chatter.json" with { type: "json" }

type Parts = Readonly<Record<"open" | "who" | "did" | "what" | "when", readonly string[]>>

/** `details` are circumstances that people associate with a fact. A question may name one. */
export const { everyday: EVERYDAY_TALK, project: PROJECT_TALK, replies: REPLIES, details: DETAILS } = talk

export function chatter({ open, who, did, what, when }: Parts, pick: <T>(list: readonly T[]) => T): string {
  return `${pick(open)} ${pick(who)} ${pick(did)} ${pick(what)} ${pick(when)}.`
}

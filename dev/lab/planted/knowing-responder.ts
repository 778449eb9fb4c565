/**
 * Writes summaries like a model: the task, the state, the next step, and facts that only the model knows, from its thinking and from
 * pictures. It mentions some of the other facts in its request, and nothing that the request lacks.
 */
import type { Responder, ResponderBlock, ResponderRequest } from "@strata/sim"
import type { PlantedFact } from "./facts.ts"
import { pictureOf } from "./work.ts"

const MENTIONED = 5 // mentions one of this many facts in view that are also written elsewhere

export function knowingResponder(facts: readonly PlantedFact[]): Responder & { readonly asked: () => number } {
  let asked = 0
  return {
    name: "knowing",
    asked: () => asked,
    answer({ request }) {
      asked++
      const known = knownIn(request, facts)
      const own = known.filter(({ kind }) => kind === "thought" || kind === "image")
      const others = known.filter((fact) => !own.includes(fact)).filter((_, at) => at % MENTIONED === 0)
      const newest = [...textsIn(request)]
        .flatMap((text) => [...text.matchAll(/Next is (task \d+: [^.\n]+)/g)])
        .at(-1)?.[1]
      const task = newest ?? "look at what the services need next"
      const words = [
        "1. Primary Request and Intent:",
        `   The user wants me to ${task.replace(/^task \d+: /, "")}, one service after the other.`,
        "2. Key Technical Concepts:",
        ...[...own, ...others].map(({ sentence }) => `   - ${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`),
        "8. Current Work:",
        `   I was working on this: ${task}.`,
        "9. Optional Next Step:",
        `   Go on with ${task}.`,
      ]
      return { content: [{ type: "text", text: `<summary>\n${words.join("\n")}\n</summary>` }] }
    },
  }
}

function knownIn(request: ResponderRequest, facts: readonly PlantedFact[]): readonly PlantedFact[] {
  const seen = [...textsIn(request)].join("\n").toLowerCase()
  return facts.filter(
    (fact) =>
      seen.includes(fact.sentence.toLowerCase()) ||
      (fact.kind === "image" && seen.includes(pictureOf(fact).toLowerCase())),
  )
}

/** All content that a model would see, with pictures as their bytes. */
function* textsIn({ messages }: ResponderRequest): Generator<string> {
  for (const { content } of messages) for (const block of content) yield* textsOf(block)
}

function* textsOf(block: ResponderBlock): Generator<string> {
  const { source } = block as { source?: { data?: string } }
  for (const text of [block.text, block.thinking, source?.data]) if (text !== undefined) yield text
  if (block.input !== undefined) yield Object.values(block.input as object).join("\n")
  if (typeof block.content === "string") yield block.content
  else if (block.content) for (const inner of block.content) yield* textsOf(inner)
}

/**
 * Answers that an API rarely or never gives, for property tests of the code that has to handle them. One answer in four ends the turn
 * normally, so that a loop ends.
 */

import type { Answer, AnswerBlock, Responder, ResponderTurn } from "../responder.ts"
import { createRandom, type Seed, type SeededRandom } from "./seeded-random.ts"

type Malformation = (given: { turn: ResponderTurn; random: SeededRandom; name: string }) => Answer

const SHARE_OF_ENDS = 0.25

export const MALFORMATIONS = {
  "input cut off": ({ turn, name }) => answer({ ...call(turn, name), inputText: '{"file_path": "src/ind' }),
  "input not JSON": ({ turn, name }) => answer({ ...call(turn, name), inputText: "file_path=src/index.ts" }),
  "input empty": ({ turn, name }) => answer({ ...call(turn, name), inputText: "" }),
  "input of another type": ({ turn, name, random }) => {
    return answer({ ...call(turn, name), input: random.pick<unknown>([null, "ls", 7, ["ls"], true]) })
  },
  "input of wrong fields": ({ turn, name }) => {
    return answer({
      ...call(turn, name),
      input: { file_path: 12, command: ["ls"], ünknown: { deep: [null] }, __proto: 1 },
    })
  },
  "unknown tool": ({ turn }) => answer({ ...call(turn, "LaunchRocket"), input: { target: "moon" } }),
  "odd tool name": ({ turn, random }) =>
    answer({ ...call(turn, random.pick(["", " ", "Read\n", "日本語"]) ?? ""), input: {} }),
  "id twice in one answer": ({ turn, name }) => {
    const twin = { ...call(turn, name), input: { file_path: "package.json" } }
    return answer(twin, { ...twin, input: { file_path: "README.md" } })
  },
  "id of an earlier call": ({ turn, name }) => {
    const earlier = turn.request.messages.flatMap(({ content }) => content).findLast(({ type }) => type === "tool_use")
    const fresh = call(turn, name)
    return answer({ ...fresh, id: earlier?.id ?? fresh.id, input: { file_path: "package.json" } })
  },
  "nothing at all": () => ({ content: [] }),
  "empty text": () => answer({ type: "text", text: "" }),
  whitespace: ({ random }) => answer({ type: "text", text: random.pick([" ", "\n\n", "\t", "\u00a0"]) ?? " " }),
  "only thinking": () => answer({ type: "thinking", thinking: "What was I about to say?" }),
  "empty thinking before a call": ({ turn, name }) => {
    return answer({ type: "thinking", thinking: "" }, { ...call(turn, name), input: { file_path: "package.json" } })
  },
  "max_tokens in a tool_use": ({ turn, name }) => ({
    content: [
      text("Writing it now."),
      { ...call(turn, name), inputText: '{"file_path": "a.md", "content": "# A long' },
    ],
    stopReason: "max_tokens",
  }),
  "max_tokens in a text": () => ({
    content: [text("The first of the three reasons is tha")],
    stopReason: "max_tokens",
  }),
  "tool_use announced, none given": () => ({ content: [text("Let me read it.")], stopReason: "tool_use" }),
  "end_turn with a tool_use": ({ turn, name }) => {
    return { content: [{ ...call(turn, name), input: { file_path: "package.json" } }], stopReason: "end_turn" }
  },
  "text after the call": ({ turn, name }) => {
    return answer({ ...call(turn, name), input: { file_path: "package.json" } }, text("That was easy."))
  },
  pause: () => ({ content: [text("One moment.")], stopReason: "pause_turn" }),
  refusal: () => ({ content: [], stopReason: "refusal" }),
} as const satisfies Record<string, Malformation>

export type MalformationName = keyof typeof MALFORMATIONS

/** `only` limits the responder to the named malformations. */
export function malformedResponder(seed: Seed = 1, only?: readonly MalformationName[]): Responder {
  const names = only ?? (Object.keys(MALFORMATIONS) as MalformationName[])
  return {
    name: "malformed",
    answer(turn) {
      const random = createRandom(seed, turn)
      const chosen = random.chance(SHARE_OF_ENDS) ? undefined : random.pick(names)
      if (chosen === undefined) return answer(text("Done."))
      const malformation: Malformation = MALFORMATIONS[chosen]
      return malformation({ turn, random, name: random.pick(turn.request.tools ?? [])?.name ?? "Read" })
    },
  }
}

function call(turn: ResponderTurn, name: string) {
  return { type: "tool_use" as const, id: turn.nextToolUseId(), name }
}

function text(words: string): AnswerBlock {
  return { type: "text", text: words }
}

function answer(...content: AnswerBlock[]): Answer {
  return { content }
}

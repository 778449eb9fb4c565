/** Every combination of Recall and other calls, split into chunks: a listener assembles the same response that the client gets. */
import fc from "fast-check"
import { expect, test } from "vitest"
import { size } from "../../core/test/size.ts"
import { CallbackMerger } from "../src/langchain/callback-merger.ts"
import { mergeRounds } from "../src/langchain/merged-message.ts"
import { AiChunk, GenerationChunk, type Listener } from "./langchain-like.ts"

const RUNS = Number(process.env.FUZZ_RUNS ?? size(50, 200))

type Kind = "text" | "thinking" | "Recall" | "look"
const kind = fc.constantFrom<Kind>("text", "thinking", "Recall", "look")
const rounds = fc.tuple(
  fc.array(
    fc.array(kind, { maxLength: 3 }).map((kinds): Kind[] => [...kinds.filter((each) => each !== "look"), "Recall"]),
    { maxLength: 3 },
  ),
  fc.array(kind, { maxLength: 4 }),
)

/** The chunks of one round, as a provider's package creates them. */
function pieces(kinds: readonly Kind[], round: number): readonly AiChunk[] {
  const id = `msg_${round}`
  const usage = { input_tokens: 100 + round, output_tokens: 0, total_tokens: 100 + round }
  const end = { input_tokens: 0, output_tokens: 7, total_tokens: 7 }
  return [
    new AiChunk({ content: [], id, additional_kwargs: { id, role: "assistant" }, usage_metadata: usage }),
    ...kinds.flatMap((each, index) => blockPieces(each, { index, round })),
    new AiChunk({ content: [], additional_kwargs: { stop_reason: "tool_use" }, usage_metadata: end }),
  ]
}

function blockPieces(each: Kind, { index, round }: { index: number; round: number }): readonly AiChunk[] {
  if (each === "text" || each === "thinking")
    return [`a${round}`, `b${index}`].map((value) => new AiChunk({ content: [{ index, type: each, [each]: value }] }))
  const id = `call_${round}_${index}`
  return [
    new AiChunk({
      content: [{ index, type: "tool_use", id, name: each, input: "" }],
      tool_call_chunks: [{ index, id, name: each, args: "" }],
    }),
    ...['{"search":', '"x"}'].map(
      (args) =>
        new AiChunk({
          content: [{ index, type: "input_json_delta", input: args }],
          tool_call_chunks: [{ index, args }],
        }),
    ),
  ]
}

test("BEY-11 a listener hears one answer without Recall, whatever the rounds are", async () => {
  await fc.assert(
    fc.asyncProperty(rounds, fc.option(fc.nat(20), { nil: undefined }), async ([before, last], cut) => {
      const isCut = cut !== undefined
      const heard: (readonly [string, readonly unknown[]])[] = []
      const hear =
        (name: string) =>
        (...words: unknown[]) =>
          void heard.push([name, words])
      const listener: Listener = {
        name: "listener",
        handleChatModelStart: hear("start"),
        handleLLMNewToken: hear("token"),
        handleLLMEnd: hear("end"),
        handleLLMError: hear("error"),
      }
      const run = new CallbackMerger("Recall")
      const wholes: AiChunk[] = []
      const all = [...before, last]
      for (const [round, kinds] of all.entries()) {
        const [quiet] = run.callbacks([listener]) as [Required<Listener>]
        const isLast = round === all.length - 1
        quiet.handleChatModelStart({}, [[]], `run-${round}`)
        const made = pieces(kinds, round)
        const given = isLast && isCut ? made.slice(0, cut % made.length) : made
        for (const message of given)
          quiet.handleLLMNewToken("", {}, `run-${round}`, undefined, [], {
            chunk: new GenerationChunk({ text: "", message }),
          })
        const whole = made.reduce((sum, piece) => sum.concat(piece))
        wholes.push(whole)
        if (isLast && isCut) quiet.handleLLMError(new Error("lost"), `run-${round}`)
        else quiet.handleLLMEnd({ generations: [[{ message: whole }]] }, `run-${round}`)
      }
      const answer = mergeRounds(wholes, "Recall") as unknown as AiChunk
      await run.end(isCut ? undefined : answer)
      const names = heard.map(([name]) => name).filter((name) => name !== "token")
      expect(names).toEqual(["start", isCut ? "error" : "end"])
      expect(JSON.stringify(heard)).not.toContain("Recall")
      const ids = heard.map(([name, words]) => (name === "start" || name === "token" ? words[2] : words[1]))
      expect(new Set(ids)).toEqual(new Set(["run-0"]))
      const chunks = heard.flatMap(([name, words]) =>
        name === "token" ? [(words[5] as { chunk: GenerationChunk }).chunk.message] : [],
      )
      const places = chunks.flatMap(({ content }) =>
        typeof content === "string" ? [] : content.map(({ index }) => index as number),
      )
      expect([...new Set(places)]).toEqual([...new Set(places)].map((_, at) => at))
      if (isCut) return
      const joined = chunks.reduce((sum, piece) => sum.concat(piece))
      expect(joined.content).toEqual(answer.content)
      expect(joined.tool_calls).toEqual(answer.tool_calls)
      expect(joined.usage_metadata).toMatchObject({ input_tokens: 100 + all.length - 1, output_tokens: 7 * all.length })
      expect(joined.id).toBe("msg_0")
      expect(answer.tool_calls.every(({ name }) => name === "look")).toBe(true)
    }),
    { numRuns: RUNS },
  )
})

test("BEY-11 late calls are heard in order: a listener may be called after the answer is there", async () => {
  const heard: string[] = []
  const listener: Listener = { name: "late", handleLLMEnd: () => void heard.push("end") }
  const run = new CallbackMerger("Recall")
  const [first] = run.callbacks([listener]) as [Required<Listener>]
  const [second] = run.callbacks([listener]) as [Required<Listener>]
  await run.end(new AiChunk({ content: "done" }))
  await first.handleLLMEnd({ generations: [] }, "run-0")
  expect(heard).toEqual([])
  await second.handleLLMEnd({ generations: [] }, "run-1")
  expect(heard).toEqual(["end"])
})

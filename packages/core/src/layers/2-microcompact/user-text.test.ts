/** Text of the user inside a tool result stays in view while results around it are offloaded or cleared. */
import fc from "fast-check"
import { expect, test } from "vitest"
import { openTestConversation } from "../../../test/open.ts"
import { size } from "../../../test/size.ts"
import { manualClock } from "../../base/clock.ts"
import { engineOf } from "../../conversation/conversation.ts"
import { CLEARED_MARKER } from "../../views/context/render-decisions.ts"
import { toolResultStorage } from "../1-tool-results/tool-result-storage.ts"
import { microcompaction } from "./microcompaction.ts"

const REFUSED =
  "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the user said:\n"
const LARGE = "a line of a long result\n".repeat(2_500)
const HOUR = 3_600_000

interface Round {
  readonly tool: string
  readonly said?: string
  readonly isLarge: boolean
  readonly isAfterPause: boolean
}

const said = fc.string({ minLength: 12, maxLength: 60 }).map((text) => `please ${text.replace(/["\\\n]/g, "x")}!`)
const plain = { isLarge: fc.boolean(), isAfterPause: fc.boolean() }
const round: fc.Arbitrary<Round> = fc.oneof(
  fc.record({ tool: fc.constantFrom("Bash", "Read"), ...plain }),
  fc.record({ tool: fc.constantFrom("Bash", "Read"), ...plain }),
  fc.record({ tool: fc.constantFrom("Bash", "AskUserQuestion"), said, ...plain }),
)

test.each(["claude-opus-4-6", "someone-else"])(
  "L2-14 property: words of the person in results are in every request to %s",
  async (model) => {
    let cleared = 0
    await fc.assert(
      fc.asyncProperty(fc.array(round, { minLength: 8, maxLength: 16 }), async (rounds) => {
        const clock = manualClock(new Date("2026-11-18T10:00:00Z"))
        await using chat = await openTestConversation({
          model,
          clock,
          layers: [toolResultStorage(), microcompaction()],
        })
        await chat.add({ role: "user", content: "Fix it" })
        const words: string[] = []
        for (const [at, each] of rounds.entries()) {
          const id = `toolu_${at}`
          const content = [{ type: "tool_use" as const, id, name: each.tool, input: {} }]
          const usage = { input_tokens: Math.max(10, engineOf(chat).views.context.size().tokens), output_tokens: 5 }
          await chat.record({ id: `msg_${at}`, model, content, stop_reason: "tool_use", usage })
          await chat.add({ role: "user", content: [{ type: "tool_result", tool_use_id: id, ...resultOf(each) }] })
          if (each.said !== undefined) words.push(each.said)
          if (each.isAfterPause) clock.advance(2 * HOUR)
          const request = await chat.prepare()
          const sent = JSON.stringify(request.messages)
          for (const word of words) expect(sent).toContain(JSON.stringify(word).slice(1, -1))
          if (words.length > 0) expect(JSON.stringify(request)).not.toContain("clear_tool_uses")
          if (sent.includes(CLEARED_MARKER)) cleared++
        }
      }),
      { numRuns: size(4, 12), seed: 1 },
    )
    expect(cleared).toBeGreaterThan(0) // the property is not an empty one
  },
)

function resultOf({ tool, said: words, isLarge }: Round): { readonly content: string; readonly is_error?: boolean } {
  const more = isLarge ? LARGE : ""
  if (words === undefined) return { content: `${more}done` }
  return tool === "Bash"
    ? { is_error: true, content: `${REFUSED}${words}${more}` }
    : { content: `User has answered your questions: "Which?"="${words}"${more}` }
}

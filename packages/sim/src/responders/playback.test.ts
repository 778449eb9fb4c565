import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { needs } from "../../../core/test/needs.ts"
import { makeTurn, requestOf } from "../../test/responder-tools.ts"
import type { Answer, ResponderBlock, ResponderMessage } from "../responder.ts"
import { playbackResponder, type RecordedMessage } from "./playback.ts"

const REPOSITORY = join(import.meta.dirname, "../../../..")
const RECORDINGS = join(REPOSITORY, "../shared/data/transcripts/claude-code-log")

const user = (text: string): RecordedMessage => ({ role: "user", content: text })
const calls = (id: string): RecordedMessage => {
  return { role: "assistant", content: [{ type: "tool_use", id, name: "Read", input: { file_path: `${id}.ts` } }] }
}
const gets = (id: string): RecordedMessage => {
  return { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: `text of ${id}` }] }
}
const says = (text: string): RecordedMessage => ({ role: "assistant", content: [{ type: "text", text }] })

const RECORDING = [
  user("Look at the first file, please."),
  calls("toolu_a"),
  gets("toolu_a"),
  says("It is short."),
  user("continue"),
  calls("toolu_b"),
  gets("toolu_b"),
  calls("toolu_c"),
  gets("toolu_c"),
  says("Two more."),
  user("continue"),
  says("That was all."),
]

function asMessages(recording: readonly RecordedMessage[]): ResponderMessage[] {
  return recording.map(({ role, content }) => {
    return { role, content: typeof content === "string" ? [{ type: "text", text: content }] : content }
  })
}

function answerTo(messages: readonly RecordedMessage[], responder = playbackResponder(RECORDING)): Answer {
  return responder.answer(makeTurn(requestOf(asMessages(messages)))) as Answer
}

/** Claude Code writes one API response as several lines with the same message id. */
function readRecording(path: string): RecordedMessage[] {
  const lines = readFileSync(path, "utf8").trim().split("\n")
  const entries = lines.map(
    (line) => JSON.parse(line) as { type: string; isSidechain?: boolean; message: RecordedMessage },
  )
  const spoken = entries.filter(({ type, isSidechain }) => ["user", "assistant"].includes(type) && !isSidechain)
  return spoken.map(({ message: { role, content } }) => ({ role, content }))
}

describe("BEY-8 playback", () => {
  test("BEY-8 playback gives every recorded turn in order, then says that it has ended", () => {
    const responder = playbackResponder(RECORDING)
    const prefixes = RECORDING.flatMap(({ role }, index) => (role === "assistant" ? [RECORDING.slice(0, index)] : []))
    const answers = prefixes.map((prefix) => answerTo(prefix, responder).content)
    expect(answers).toEqual(
      asMessages(RECORDING).flatMap(({ role, content }) => (role === "assistant" ? [content] : [])),
    )
    expect(answerTo([...RECORDING, user("And now?")], responder).content).toEqual([
      { type: "text", text: "The recording ends here." },
    ])
  })

  test("BEY-8 playback finds its position in a compacted request by the last tool_use id and the user's text", () => {
    const summary = user("This conversation continues an earlier one. Summary: files were read.")
    expect(answerTo([summary, calls("toolu_b"), gets("toolu_b")])).toMatchObject({ content: [{ id: "toolu_c" }] })
    expect(answerTo([summary, calls("toolu_c"), gets("toolu_c"), says("Two more."), user("continue")])).toMatchObject({
      content: [{ text: "That was all." }],
    })
  })

  test("BEY-8 playback continues by count if nothing in the request is recorded", () => {
    const responder = playbackResponder(RECORDING)
    answerTo(RECORDING.slice(0, 1), responder)
    expect(answerTo([user("All of it was summarised.")], responder)).toMatchObject({
      content: [{ text: "It is short." }],
    })
    expect(answerTo([user("One."), says("1"), user("Two."), says("2"), user("Three.")])).toMatchObject({
      content: [{ id: "toolu_b" }],
    })
  })

  test("BEY-8 playback summarises truthfully when asked for what was not recorded", () => {
    const prompt = user("Summarise the conversation inside <summary> tags.")
    const answer = answerTo([...RECORDING.slice(0, 4), prompt])
    expect(JSON.stringify(answer)).toContain("Look at the first file, please.")
    expect(answerTo(RECORDING.slice(0, 5))).toMatchObject({ content: [{ id: "toolu_b" }] })
  })

  test("BEY-8 playback of real recordings", needs("transcripts"), () => {
    for (const file of readdirSync(RECORDINGS).filter((name) => name.endsWith(".jsonl"))) {
      const recording = readRecording(join(RECORDINGS, file))
      const responder = playbackResponder(recording)
      const messages = asMessages(recording)
      const used = (blocks: readonly ResponderBlock[]) =>
        blocks.filter(({ type }) => type === "tool_use").map(({ id }) => id)
      let checked = 0
      for (const [index, { role, content }] of messages.entries()) {
        const answersCall = content.some(({ type }) => type === "tool_result") && role === "user"
        if (!answersCall || messages[index + 1]?.role !== "assistant") continue
        const tail = messages.slice(Math.max(0, index - 3), index + 1)
        const turnOf = (view: readonly ResponderMessage[]) => responder.answer(makeTurn(requestOf(view))) as Answer
        const answer = turnOf([
          { role: "user", content: [{ type: "text", text: "Earlier messages were cut." }] },
          ...tail,
        ])
        expect(answer).toEqual(turnOf(messages.slice(0, index + 1)))
        expect(used(answer.content as readonly ResponderBlock[])).toEqual(
          expect.arrayContaining(used(messages[index + 1]!.content)),
        )
        checked++
      }
      expect(checked, file).toBeGreaterThan(20)
    }
  })
})

import { expect, test } from "vitest"
import type { CallerMessage } from "../../messages/caller-key.ts"
import { type CallerLine, Callers } from "./callers.ts"

const said = (text: string): CallerMessage => ({ role: "user", content: [{ type: "text", text }] })
const answered = (text: string): CallerMessage => ({ role: "assistant", content: [{ type: "text", text }] })
const MAIN = { id: "one", tools: ["Bash", "Read"] }
const EXPLORER = { id: "one", tools: ["Read"] }

function callers(lines: CallerLine[] = []) {
  const log = { read: async () => [...lines], append: async (line: CallerLine) => void lines.push(line) }
  return new Callers({ log, newId: () => "new" })
}

test("BEY-14 threads of one id that begin at the same time are conversations of their own, each one from its first request", async () => {
  const known = callers()
  const busy = new Set<string>()
  const begin = async (identity: typeof MAIN, text: string) => {
    const { conversation } = await known.find(identity, [said(text)], (id) => busy.has(id))
    busy.add(conversation)
    return conversation
  }
  const begun = [
    await begin(MAIN, "Fix the test."),
    await begin(EXPLORER, "Look around."),
    await begin(MAIN, "Plan it."),
  ]
  expect(new Set(begun).size).toBe(3)
  const twin = await begin(EXPLORER, "Fix the test.") // the same words in another thread
  const same = await begin(MAIN, "Fix the test.") // and with the same tools, while the first waits for its answer
  expect(new Set([...begun, twin, same]).size).toBe(5)
})

test("BEY-14 a first request that is sent again goes on in its conversation, also after its answer and in another process", async () => {
  const lines: CallerLine[] = []
  const known = callers(lines)
  const list = [said("Fix the test.")]
  const { conversation } = await known.find(MAIN, list)
  expect(await known.find(MAIN, list)).toMatchObject({ conversation })
  await known.note(conversation, MAIN, [...list, answered("Done.")])
  expect(await known.find(MAIN, list)).toMatchObject({ conversation })
  expect(await callers(lines).find(MAIN, list)).toMatchObject({ conversation })
  const more = [...list, answered("Done."), said("And now?")]
  expect(await known.find({ ...MAIN, tools: ["Bash"] }, more)).toMatchObject({ conversation }) // its tools may change
})

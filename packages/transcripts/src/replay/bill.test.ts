import { expect, test } from "vitest"
import { conversation } from "../../../core/test/builders.ts"
import { Bill } from "./bill.ts"
import { measureRecording, recordedContexts } from "./measured-recording.ts"
import { SentMessages } from "./sent-messages.ts"

const usage = (read: number, written: number) => ({
  ...{ input_tokens: 0, output_tokens: 10 },
  ...{ cache_read_input_tokens: read, cache_creation_input_tokens: written },
})
/** The cache is lost before the third request, within its lifetime. */
const { messages: entries } = conversation()
  .user("Look.")
  .call("Read", { file_path: "/p/a" }, { usage: usage(0, 20_000) })
  .result("a ".repeat(900))
  .call("Read", { file_path: "/p/b" }, { usage: usage(20_000, 1_000) })
  .result("b ".repeat(900))
  .say("Seen.", { usage: usage(0, 22_000) })

function sentUpTo(last: number) {
  const recording = measureRecording({ entries, model: "claude-opus-4-6" })
  const sized = new SentMessages(recording.sizes)
  const bill = new Bill(recording, {})
  const requests = [...recordedContexts(recording, recording)].map(({ request, messages }) => ({
    request,
    sent: { prompt: recording.prompts[request.number]!, messages: messages.map((each) => sized.of(each)) },
  }))
  for (const { sent, request } of requests.slice(0, last)) bill.cachedInTurn(sent, request)
  return { bill, ...requests[last]! }
}

test("CACHE-5 what happened to the cache hits the first request of a turn, be it a recall, and only that one", () => {
  const { bill, sent, request } = sentUpTo(2)
  expect(bill.cachedInTurn(sent, request)).toMatchObject({ cacheRead: 0 })
  expect(bill.cachedInTurn(sent, request).cacheRead).toBeGreaterThan(21_000)
})

test("CACHE-5 a summary that reads a lost cache writes nothing, and the request after it writes everything", () => {
  const { bill, sent, request } = sentUpTo(2)
  const summary = bill.cachedInTurn(sent, request, { writes: false })
  expect(summary).toMatchObject({ cacheRead: 0, cacheWrite5m: 0 })
  expect(summary.input).toBeGreaterThan(21_000)
  expect(bill.cachedInTurn(sent, request)).toMatchObject({ cacheRead: 0, cacheWrite5m: summary.input })
})

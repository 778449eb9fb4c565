import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { inspectTranscript } from "./inspection.ts"
import { readTranscripts } from "./read-transcripts.ts"
import { countedElsewhere, listResponses } from "./responses.ts"

const line = (n: number, session: string, output = 20) => {
  const at = new Date(Date.UTC(2026, 5, 1, 9, n)).toISOString()
  const place = { sessionId: session, cwd: "/project", version: "2.1.325", isSidechain: false }
  const usage = { input_tokens: 100, output_tokens: output, cache_read_input_tokens: 1000 * n }
  return [
    { ...place, type: "user", uuid: `u${n}`, parentUuid: n === 1 ? null : `a${n - 1}`, timestamp: at },
    { ...place, type: "assistant", uuid: `a${n}`, parentUuid: `u${n}`, timestamp: at, requestId: `req_${n}` },
  ].map((entry, i) => ({
    ...entry,
    message:
      i === 0
        ? { role: "user", content: `question ${n}` }
        : {
            id: `msg_${n}`,
            role: "assistant",
            model: "claude-opus-4-5",
            content: [{ type: "text", text: "yes" }],
            usage,
          },
  }))
}

async function transcripts(files: Readonly<Record<string, readonly object[]>>) {
  const folder = await mkdtemp(join(tmpdir(), "responses-"))
  onTestFinished(() => rm(folder, { recursive: true }))
  const read = Object.entries(files).map(async ([name, lines]) => {
    const path = join(folder, name)
    await writeFile(path, lines.map((one) => `${JSON.stringify(one)}\n`).join(""))
    return (await readTranscripts(path))[0]!
  })
  return Promise.all(read)
}

const turns = (session: string, ...numbers: readonly number[]) => numbers.flatMap((n) => line(n, session))

test("BEY-10 the responses of a transcript add up to its bill, each once", async () => {
  const [first, again] = [line(2, "s", 5), line(2, "s", 50)]
  const pieces = [...line(1, "s"), ...first, { ...again[1], uuid: "a2b", parentUuid: "a2" }]
  const [transcript] = await transcripts({ "one.jsonl": pieces })
  const responses = listResponses(transcript!)
  expect(responses.map(({ id, counts: { output } }) => [id, output])).toEqual([
    ["msg_1", 20],
    ["msg_2", 50],
  ])
  const dollars = responses.reduce((sum, one) => sum + one.dollars!, 0)
  expect(dollars).toBeCloseTo(inspectTranscript(transcript!).money.dollars, 10)
})

test("BEY-10 a response that a fork repeats counts in its parent, in whatever order the files come", async () => {
  const [fork, parent, grandchild] = await transcripts({
    "a-fork.jsonl": turns("fork", 1, 2, 3, 6),
    "b-parent.jsonl": turns("parent", 1, 2, 3, 4),
    "c-grandchild.jsonl": turns("grandchild", 1, 2, 3, 6, 9),
  })
  const of = (all: readonly (typeof fork)[]) =>
    countedElsewhere(all.map((one) => ({ file: one!.file, responses: listResponses(one!) }))).map((elsewhere) =>
      elsewhere.map(({ in: at, responses }) => [all[at]!.id, responses.map(({ id }) => id).join(" ")]),
    )
  const inParent = ["parent", "msg_1 msg_2 msg_3"]
  expect(of([fork, parent])).toEqual([[inParent], []])
  expect(of([parent, fork])).toEqual([[], [inParent]])
  // the responses do not show whether the fork or its own fork came first: the one without other responses counts as the parent
  const three = of([grandchild, fork, parent]).flat(2)
  expect(three.join(" ").match(/msg_6/g)).toHaveLength(1)
})

test("BEY-10 conversations that share nothing count everything", async () => {
  const all = await transcripts({ "a.jsonl": turns("a", 1, 2), "b.jsonl": turns("b", 3) })
  expect(countedElsewhere(all.map((one) => ({ file: one.file, responses: listResponses(one) })))).toEqual([[], []])
})

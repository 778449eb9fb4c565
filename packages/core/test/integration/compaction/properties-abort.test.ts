/**
 * L4-14: a compaction aborted at any moment leaves the conversation unchanged: the bytes of the journal and of the next request. Only the
 * amount paid until then is added to the journal (CACHE-5).
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import fc from "fast-check"
import { afterAll, expect, test } from "vitest"
import type { Conversation } from "../../../src/conversation/conversation.ts"
import { fileStore } from "../../../src/journal/file/file-store.ts"
import type { CompactionHooks } from "../../../src/layers/4-compaction/compaction-context.ts"
import { serialiseRequest } from "../../../src/views/context/request.ts"
import { openCompacting } from "../../compacting.ts"
import { fuzz } from "../../runs.ts"
import { conversations, newPlayer, play } from "../../steps.ts"
import { SUMMARISER, summariser } from "../../summariser.ts"

const root = mkdtempSync(join(tmpdir(), "strata-abort-"))
afterAll(() => rmSync(root, { recursive: true }))

const MOMENTS = ["before-hooks", "in-hooks", "asked", "summarised", "restoring", "starting"] as const
type Moment = (typeof MOMENTS)[number]
const USAGE = { input_tokens: 20_000, output_tokens: 50 } // over the threshold of a window of 32,000
const WINDOW = 32_000
const RUNS = { ...fuzz, numRuns: Math.ceil(fuzz.numRuns! / 10) }

let count = 0

test.each(["manual", "auto"] as const)("L4-14 an aborted %s compaction changes no byte", async (trigger) => {
  const stoppedAt = new Map<Moment, number>()
  await fc.assert(
    fc.asyncProperty(conversations, fc.constantFrom(...MOMENTS), async (steps, moment) => {
      const stopping = new AbortController()
      const at = (reached: Moment) => {
        if (reached !== moment || stopping.signal.aborted) return
        stoppedAt.set(moment, (stoppedAt.get(moment) ?? 0) + 1)
        stopping.abort()
      }
      let [armed, chunks] = [false, 0]
      const reach = (reached: Moment) => armed && at(reached)
      const model = summariser({ window: WINDOW, onAsked: () => reach("asked") })
      const chat = await openCompacting({
        ...{ window: WINDOW, id: `c${count++}`, store: fileStore({ root, flush: "never" }) },
        summariser: model,
        compaction: { hooks: hooksThat(reach) },
      })
      chat.on("compaction", ({ phase, ...progress }) => {
        if (phase === "preparing") reach("before-hooks")
        if (phase === "restoring") reach("restoring")
        if (phase === "summarising" && "characters" in progress && chunks++ === 0) reach("summarised")
      })
      const player = newPlayer()
      for (const step of steps) if (step.kind !== "prepare") await play(chat, step, player)
      const sent = await lastWords(chat)
      const before = readFileSync(chat.location)

      const asked = model.asked() // found by fuzzing: the window may have been full before
      armed = true
      const given = trigger === "manual" ? chat.compact({}, stopping) : chat.prepare(stopping)
      await given.then(
        () => undefined,
        () => undefined,
      )
      if (!stopping.signal.aborted) return // never started
      await expect(given).rejects.toThrow()
      const after = readFileSync(chat.location)
      expect(after.subarray(0, before.length).equals(before)).toBe(true)
      const added = after.subarray(before.length).toString().split("\n").filter(Boolean)
      expect(added.map((line) => JSON.parse(line).subtype)).toEqual(Array(model.asked() - asked).fill("spent"))
      if (trigger === "manual") expect(serialiseRequest(await chat.prepare())).toBe(sent)
      await chat.close()
    }),
    RUNS,
  )
  if (RUNS.numRuns >= 100) expect([...stoppedAt.keys()].toSorted()).toEqual(MOMENTS.toSorted())

  /** An exchange that fixes the size: full if the compaction should start by itself. Resolves with the next request. */
  async function lastWords(chat: Conversation): Promise<string | undefined> {
    const usage = trigger === "auto" ? USAGE : { input_tokens: 9_000, output_tokens: 50 }
    await chat.add({ role: "user", content: "And now?" })
    await chat.prepare() // journals everything that a first request adds
    const content = [{ type: "text", text: "Done." }]
    await chat.record({ id: "msg_last", model: SUMMARISER, content, stop_reason: "end_turn", usage })
    await chat.add({ role: "user", content: "Go on." })
    return trigger === "manual" ? serialiseRequest(await chat.prepare()) : undefined
  }
})

function hooksThat(reach: (moment: Moment) => void): CompactionHooks {
  return {
    async before({ instructions }) {
      reach("in-hooks")
      return { instructions, messages: [] }
    },
    async started() {
      reach("starting")
      return { contexts: [{ hook: "start", text: "Hello again." }], messages: [] }
    },
    after: async () => ({ messages: [] }),
  }
}

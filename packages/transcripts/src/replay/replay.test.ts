import { describe, expect, test } from "vitest"
import { fileTools, openShellTools, sessionTools } from "../../../core/src/agent/tools/coding-tools.ts"
import { conversation } from "../../../core/test/builders.ts"
import { isWhole } from "../../../core/test/size.ts"
import { type WorkRound, workload } from "../../../core/test/workloads.ts"
import { CLEARING_ONLY, STRATA } from "./policies/clearing-only.ts"
import { layered } from "./policies/layered.ts"
import { LIMITS_ITSELF } from "./policies/storage.ts"
import { type Replay, type ReplayInput, replay as replayAny } from "./replay.ts"

const MODEL = "claude-opus-4-6"
const LARGE = 8_000 // characters, about 2,000 tokens
const many = (count: number, round: Partial<WorkRound> = {}): WorkRound[] =>
  Array.from({ length: count }, () => ({ tool: "Read", result: LARGE, ...round }))

const replay = (conversation: Parameters<typeof replayAny>[0], input: ReplayInput = {}) =>
  replayAny(conversation, { policies: CLEARING_ONLY, ...input })
const replayed = (rounds: readonly WorkRound[], { model = MODEL, ...input }: ReplayInput & { model?: string } = {}) =>
  replay({ entries: workload(rounds, { model }), model }, input)
/** Compares a policy with sending everything. */
const only = (policy: string): ReplayInput => ({
  policies: CLEARING_ONLY.filter(({ name }) => name === "nothing" || name === policy),
})
const reportOf = ({ reports }: Replay, policy: string) => reports.find((report) => report.policy === policy)!

describe("CACHE-5 the replay of a recording", () => {
  test("without a policy has the sizes that were recorded, request by request, also after a compaction", async () => {
    const usage = (read: number, written: number, output = 100) => ({
      input_tokens: 3,
      output_tokens: output,
      cache_read_input_tokens: read,
      cache_creation_input_tokens: written,
    })
    const { messages } = conversation()
      .user("Look around, please.")
      .call("Bash", { command: "ls" }, { usage: usage(0, 20_000) })
      .result("a.ts\nb.ts ".repeat(100))
      .call("Read", { file_path: "a.ts" }, { usage: usage(20_000, 1_200) })
      .result("const a = 1\n".repeat(400))
      .say("I have seen it.", { usage: usage(21_200, 3_456) })
      .boundary()
      .user("What was said so far: nothing much.", { isCompactSummary: true })
      .say("Well.", { usage: usage(18_000, 2_500) })
    const { reports, sizes } = await replay({ entries: messages, model: MODEL })
    expect(sizes).toBe("counted")
    const recorded = [20_003, 21_203, 24_659, 20_503]
    expect(reports[0]!.requests.map(({ context }) => context)).toEqual(recorded)
    expect(reports[0]!.requests.map(({ counts }) => counts.output)).toEqual([100, 100, 100, 100])
  })

  test.runIf(isWhole)("does not credit a clearing with what was sent but not recorded", async () => {
    const counted = (i: number) => ({ input_tokens: 20_000 + i * 10_000, output_tokens: 20 }) // five times the size of the recorded content
    const rounds = many(15).map((round, i) => ({
      ...round,
      ...(i === 12 ? { pauseMinutes: 90 } : {}),
      usage: counted(i),
    }))
    const found = await replayed(rounds)
    const [nothing, ours] = [reportOf(found, "nothing"), reportOf(found, "strata")]
    expect(nothing.requests.at(-1)!.context).toBe(160_000)
    const cleared = nothing.requests.at(-1)!.context - ours.requests.at(-1)!.context
    expect(ours.actions).toMatchObject([{ kind: "cleared", results: 8 }])
    expect(cleared).toBeGreaterThan(8 * 2_000)
    expect(cleared).toBeLessThan(8 * 2 * 2_500)
  })

  test.runIf(isWhole)("is the same every time, and is plain data", async () => {
    const first = await replayed(many(40))
    expect(structuredClone(await replayed(many(40)))).toEqual(first)
  })

  test("counts one request for each response, also where it came in pieces", async () => {
    const { messages } = conversation()
      .user("go")
      .respond([{ type: "text", text: "Let me see." }], { id: "r1" })
      .respond([{ type: "tool_use", id: "t1", name: "Bash", input: {} }], { id: "r1" })
      .user([{ type: "tool_result", tool_use_id: "t1", content: "done" }])
      .say("Done.")
      .respond("Out of credit.", { model: "<synthetic>", isApiErrorMessage: true })
    const { reports } = await replay({ entries: messages, model: MODEL })
    expect(reports.map(({ requests }) => requests.length)).toEqual(CLEARING_ONLY.map(() => 2))
  })

  test.runIf(isWhole)("reads from the cache, and pays again after a pause", async () => {
    const { requests } = reportOf(await replayed([...many(10), ...many(1, { pauseMinutes: 6 }), ...many(2)]), "nothing")
    expect(requests[9]!.counts.cacheRead).toBeGreaterThan(0.8 * requests[9]!.context)
    expect(requests[11]!.counts).toMatchObject({ cacheRead: 0, input: 0 })
    expect(requests[12]!.counts.cacheRead).toBe(requests[11]!.context)
  })

  test("knows no pauses where the record has no times", async () => {
    const entries = workload(many(12, { pauseMinutes: 90 }), { model: MODEL }).map((entry, i) => ({
      ...entry,
      timestamp: new Date(i * 1_000).toISOString(),
    }))
    const found = await replay({ entries, model: MODEL })
    expect(found.pauses).toBe("unknown")
    expect(reportOf(found, "strata").actions).toEqual([])
    expect(reportOf(found, "nothing").requests.at(-1)!.counts.cacheRead).toBeGreaterThan(0)
  })

  test.runIf(isWhole)("says nothing about money where no price is known, and still compares", async () => {
    const { totals } = reportOf(await replayed(many(30), { model: "some-model" }), "keep-last-10")
    expect(totals).not.toHaveProperty("dollars")
    expect(totals.saved).toMatchObject({ unit: "tokens", amount: expect.any(Number) })
    expect(totals.saved.amount).toBeLessThan(0)
  })

  test("puts a policy's decisions in the place of those that were recorded", async () => {
    const messages = workload(many(12), { model: MODEL })
    const cleared = {
      type: "strata" as const,
      subtype: "tool-results-cleared" as const,
      toolUseIds: ["t0", "t1", "t2"],
      why: "size" as const,
      uuid: "d1",
      parentUuid: messages[10]!.uuid,
      timestamp: messages[10]!.timestamp,
    }
    const plain = await replay({ entries: messages, model: MODEL })
    const decided = await replay({ entries: messages.toSpliced(11, 0, cleared as never), model: MODEL })
    expect(decided.reports[0]!.requests).toEqual(plain.reports[0]!.requests)
  })
})

describe("L2-10 the policies", () => {
  test.runIf(isWhole)("keep-last-10 masks the older results, and loses the cache with every request", async () => {
    const found = await replayed(many(60), only("keep-last-10"))
    const { totals, requests } = reportOf(found, "keep-last-10")
    const nothing = reportOf(found, "nothing").totals
    expect(totals.acts.cleared).toBe(49) // the last result is never sent: 59 are, and 10 stay in view
    expect(totals.peak).toBeLessThan(nothing.peak / 3)
    expect(requests.at(-1)!.counts.cacheRead).toBe(0)
    expect(totals.dollars).toBeGreaterThan(nothing.dollars!)
  })

  test.runIf(isWhole)("sliding-3 leaves a context of less than 100K tokens alone", async () => {
    const small = reportOf(await replayed(many(40), only("sliding-3")), "sliding-3")
    expect(small.actions).toEqual([])
    const large = reportOf(await replayed(many(70), only("sliding-3")), "sliding-3")
    expect(large.actions[0]).toMatchObject({ kind: "cleared" })
    expect(large.totals.peak).toBeLessThan(105_000)
  })

  test.runIf(isWhole)("strata clears after a long pause, and the parts of what it saves add up", async () => {
    const found = await replayed([...many(20), ...many(1, { pauseMinutes: 90 }), ...many(20)], only("strata"))
    const { totals, actions } = reportOf(found, "strata")
    expect(actions).toMatchObject([{ turn: 22, kind: "cleared", results: 16 }])
    expect(totals.saved.amount).toBeGreaterThan(0)
    expect(actions.reduce((sum, { saved }) => sum + saved, 0)).toBeCloseTo(totals.saved.amount, 9)
    expect(totals.dollars).toBeCloseTo(reportOf(found, "nothing").totals.dollars! - totals.saved.amount, 9)
  })

  test.runIf(isWhole)("strata offloads a large result before it is first sent", async () => {
    const found = await replayed([...many(3), ...many(1, { tool: "mcp__log__read", result: 80_000 }), ...many(10)])
    const { actions, requests } = reportOf(found, "strata")
    expect(actions).toMatchObject([{ turn: 5, kind: "put aside", results: 1 }])
    expect(requests[4]!.context).toBeLessThan(reportOf(found, "nothing").requests[4]!.context - 10_000)
  })

  test("strata lets the server clear once the trigger is passed, and the next request reads on", async () => {
    const { actions, requests } = reportOf(await replayed(many(120), only("strata")), "strata")
    expect(actions).toMatchObject([{ kind: "cleared by the server" }])
    const { turn } = actions[0]!
    expect(requests[turn - 2]!.context).toBeGreaterThan(175_000)
    expect(requests[turn - 1]!.context).toBeLessThan(60_000)
    expect(requests[turn]!.counts.cacheRead).toBe(requests[turn - 1]!.context)
  })

  test.runIf(isWhole)("strata clears by size where the server does not help", async () => {
    const { actions } = reportOf(await replayed(many(70), { model: "some-model", ...only("strata") }), "strata")
    expect(actions).toMatchObject([{ kind: "cleared", why: "to make the context smaller" }])
  })

  test("a layer that fails is reported, and the replay continues", async () => {
    const broken = layered({
      ...STRATA,
      name: "broken",
      layers: () => [{ name: "broken", beforeRequest: () => Promise.reject(new Error("no")) }],
    })
    const { failures, requests } = reportOf(await replayed(many(3), { policies: [broken] }), "broken")
    expect(requests).toHaveLength(3)
    expect(failures).toHaveLength(3)
  })

  test("the tools that limit themselves are those that say so", async () => {
    const shell = openShellTools()
    const tools = [...fileTools, ...shell.tools, ...sessionTools()]
    const itself = tools.filter(({ limitsItself }) => limitsItself).map(({ name }) => name)
    await shell.close()
    expect(itself.filter((name) => !LIMITS_ITSELF.includes(name))).toEqual([])
  })
})
